// `sandbridge resident`: the process that `run` starts for all clients of this user. Ends by itself.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Socket } from 'node:net'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import type { Tenant } from '@sandbridge/core/bridge'
import { look, PermissionFiles } from '@sandbridge/core/config'
import {
  keptPackagesFile,
  loadLiveSettings,
  loadSettings,
  namedSettings,
  settingContext,
  settingsFile,
  settingsOf,
} from '@sandbridge/core/config/settings'
import type { LiveSettings, NamedSetting, Settings } from '@sandbridge/core/config/settings'
import { messageOf } from '@sandbridge/core/errors.ts'
import type { Session } from '@sandbridge/core/cell'
import { type Conversation, oneSession } from '@sandbridge/core/serve/mcp'
import { askResident, findResidents } from '../ask-resident.ts'
import type { FromResident, Hello } from '../reach/protocol.ts'
import { residentLogWriter } from './resident-log.ts'
import { nameOfKey } from '../resident-key.ts'
import { Resident, type ServedClient } from './resident.ts'
import { RESIDENT_SETTINGS } from '../settings.ts'
import { makeRunFolder, residentPlace } from '../reach/run-folder.ts'
import { SocketTransport } from './socket-transport.ts'
import { createLog, type Log, VERSION } from '@sandbridge/core/util'
import { features } from '@sandbridge/core/serve/cli/package.ts'
import { pageOnDemand } from '@sandbridge/core/parts'
import { serveCommand } from './serve-command.ts'
import { serveConnection } from '@sandbridge/core/serve/cli'

/** After an error that nothing has caught. */
const FAILED = 70
const OUTDATED = 'settings have changed since it started. `sandbridge stop` ends it, and the next client starts one'

/**
 * Its relays' key is on its standard input: others could read it in its command line.
 * @param name of the key
 */
export async function serveResident(name: string): Promise<void> {
  const key = { name, text: readFileSync(0, 'utf8') }
  // The relay was killed meanwhile.
  if (nameOfKey(key.text) !== name) return
  const live = await loadLiveSettings()
  const { settings } = live
  const place = residentPlace(settings.stateDir, name)
  makeRunFolder(place)
  const log = createLog('info', residentLogWriter(place.log))
  // Nobody knows what such an error has left undone. Every relay answers its client when its connection ends.
  const fail = (error: unknown): void => {
    log.error('The resident bridge failed and ends', { error, stack: error instanceof Error ? error.stack : undefined })
    process.exit(FAILED)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)

  let opening: Promise<Bridge> | undefined
  let opened: Bridge | undefined
  const bridge = (): Promise<Bridge> => {
    opening ??= openBridge({ settings, refresh }, log).then(
      (made) => (opened = made),
      (error: unknown) => {
        // The mistake in a file may be corrected by the next cell.
        opening = undefined
        throw error
      },
    )
    return opening
  }
  /** Changed settings that need a restart: the next cell's result names them. */
  const untold: string[] = []
  const refresh = async (): Promise<string[]> => {
    const notes = await live.refresh()
    return [...untold.splice(0), ...notes]
  }
  /** The settings of each client, by its environment. */
  const own = new WeakMap<Hello['env'], Settings>()
  const settingsOfClient = settingsReader()
  const resident = new Resident({
    idleMs: settingsOf(settings, RESIDENT_SETTINGS).residentIdleMs,
    maxTimeoutMs: settings.maxTimeoutMs,
    key,
    place,
    log,
    refuses: async ({ env, cwd }) => {
      try {
        const theirs = await settingsOfClient(env)
        if (!agree(settings, theirs)) return { reason: OUTDATED, isOutdated: true }
        // Its servers and rules depend on those that take effect at once, and may be read before its first cell.
        untold.push(...(await live.refresh()))
        await new PermissionFiles(settings, cwd).read()
        own.set(env, theirs)
        return undefined
      } catch (error) {
        return { reason: messageOf(error) }
      }
    },
    serve: (hello, socket, tell) => serveClient(hello, socket, tell, { settings, own: own.get(hello.env)!, bridge }),
    openCells: () => opened?.cells.count ?? 0,
    isWatched: () => opened?.page.service?.isOpen === true,
    close: async () => {
      const last = opening
      opening = undefined
      opened = undefined
      await (await last)?.close()
    },
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void resident.end(`got ${signal}`))
  process.on('SIGHUP', () => {})
  if (!(await resident.start())) process.exit(0)
  await replaceOthers(settings.stateDir, resident)
}

/** After an update, one that stays without clients would wait for clients that come no more. */
async function replaceOthers(stateDir: string, resident: Resident): Promise<void> {
  for (const { socket, status } of await findResidents(stateDir).catch(() => [])) {
    if (!status?.isKept || status.version === VERSION || status.clients.length > 0) continue
    await askResident(socket, { stop: true })
    resident.keep()
  }
}

/** Reads the settings of a client, and those of the next one only if they may be others: often it is the same shell. */
function settingsReader(): (env: Hello['env']) => Promise<Settings> {
  let last: { of: string; settings: Settings } | undefined
  return async (env) => {
    const file = settingsFile(settingContext(env))
    const of = JSON.stringify([env, look(file), look(keptPackagesFile(path.dirname(file)))])
    if (last?.of !== of) last = { of, settings: await loadSettings(env) }
    return last.settings
  }
}

/**
 * Whether the settings here equal those that the client would have in a bridge of its own. settings.json, or the list
 * of packages, may have changed since this process started.
 */
function agree(settings: Settings, theirs: Settings): boolean {
  const at = (from: Settings, { property }: NamedSetting): unknown => from[property as keyof Settings]
  return namedSettings().every(
    (one) => one.isLive || one.ofClient || isDeepStrictEqual(at(theirs, one), at(settings, one)),
  )
}

/** The settings of the resident, with those that each client has for itself. */
function forClient(settings: Settings, own: Settings): Settings {
  const names = namedSettings().flatMap(({ ofClient, property }) => (ofClient ? [property as keyof Settings] : []))
  return { ...settings, ...Object.fromEntries(names.map((name) => [name, own[name]])) }
}

async function openBridge({ settings, refresh }: LiveSettings, log: Log): Promise<Bridge> {
  const { chooseProvider, prepareAhead } = await import('@sandbridge/core/isolation/detect')
  const findProvider = chooseProvider(settings, log)
  // Start these child processes before loading code, because loading blocks the event loop.
  if (settings.poolCount > 0) {
    prepareAhead(findProvider)
    await setImmediate()
  }
  const { Bridge: Opened } = await import('@sandbridge/core/bridge/bridge.ts')
  const bridge = await Opened.open(settings, log, {
    refreshSettings: refresh,
    isResident: true,
    servePage: pageOnDemand,
    findProvider,
    methods: features.methods,
  })
  return bridge
}

function serveClient(
  { env, cwd, home, ownPaths, isCommand }: Hello,
  socket: Socket,
  tell: (said: FromResident) => void,
  { settings, own, bridge }: { settings: Settings; own: Settings; bridge: () => Promise<Bridge> },
): ServedClient {
  const context = { env, cwd, home, ownPaths }
  if (isCommand) return serveCommand(context, socket, { own, bridge })
  const log = createLog(own.logLevel, (line) => tell({ log: line }))
  // Of its own entry: another client's may be right.
  for (const warning of own.warnings) log.warning(warning)
  let tenant: Tenant | undefined
  let session: Session | undefined
  /** The client goes on at the next resident. */
  let goesOn = false
  const open = async (): Promise<Conversation> => {
    const [shared, { keptForClient }] = await Promise.all([
      bridge(),
      import('@sandbridge/core/cell/session/kept-for.ts'),
    ])
    tenant = shared.connect(context, log, {
      onNamesKept: (text, places) => {
        // What features offer may change at any time.
        if (served.isFixed() && text === served.toldNames()) tell({ keep: places })
      },
    })
    session = shared.sessions.open(tenant, keptForClient(cwd))
    return { bridge: shared, sessions: oneSession(session), tenant }
  }
  const transport = new SocketTransport(socket)
  const served = serveConnection({ settings: forClient(settings, own), log, context, transport, open })
  return {
    servers: () => tenant?.sharing() ?? [],
    receive: (line) => transport.receive(line),
    told: () => {},
    drain: () => {
      // Another resident does not know its tasks.
      const count = transport.drain() + (session?.isBusy ? 1 : 0) + served.unfetchedTasks()
      goesOn = count === 0
      return count
    },
    end: async () => {
      const opened = await served.opened()
      if (opened) {
        const { sessions } = opened.bridge
        for (const one of opened.sessions.readable()) await (goesOn ? sessions.leave(one) : sessions.close(one))
        await opened.tenant.close()
      }
      await served.close()
    },
  }
}
