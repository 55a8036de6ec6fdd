// Opens a connection with the remembered transport and era, or tries them in turn. A failure leaves nothing.
import type { ServerDefinition, StdioServer } from '../../config/entries/server-definition.ts'
import { BridgeError, shuttingDown } from '../../errors.ts'
import { jailHome, jails } from '../../isolation/jail-part.ts'
import type { Connection } from '../connection/connection.ts'
import { type Installation, type InstallNews, installs } from '../installs-part.ts'
import type { ServerAuth } from '../sign-in-part.ts'
import { withServerPath } from '../stdio/server-path.ts'
import { type ProcessKeeper, spawnServer } from '../stdio/server-process.ts'
import { remote, type RemoteOptions } from '../remote-part.ts'
import { dialProcess, type Link, type Via } from '../dial.ts'
import { StartFailedError, startFailure } from '../failures/failures.ts'
import type { Circumstances, Failure } from '../failures/circumstances.ts'
import { handshake, type Era } from '../connection/handshake.ts'
import { createListingCleaner } from '../../config/secrets/listing-words.ts'
import { loadSdk } from '../connection/sdk.ts'
import { untilAborted } from '../../util/async/wait.ts'
import { Attempt, type StartedServer } from './attempt.ts'
import type { Reached, UpstreamPlace } from './upstream-place.ts'

/** A server that is about to be started. */
export interface Opening extends StartedServer {
  /** Authorizes requests to a remote server. */
  auth: ServerAuth | undefined
  signal: AbortSignal
  /** A package manager installs the server before it starts. */
  onInstalling: (news: InstallNews) => void
  onToolsChanged: () => void
  /** The server's resources or prompts changed. */
  onOfferingsChanged: () => void
  onClose: (connection: Connection, about: Circumstances) => void
}

interface Approach {
  via: Via
  era: Era
  /** What answers `initialize` without a protocol version may be of the modern era: that is tried first. */
  needsVersion?: boolean
  /** Those that the server names where it refuses the newest revision of the era. */
  versions?: string[]
}

/** How long a remote server may take to say which eras it supports: some older ones never answer that. */
const PROBE_MS = 5_000

/** After this time the server is asked again: it may support the modern era by then. */
const REACHED_MS = 7 * 24 * 60 * 60_000

/** How long a server that refuses both eras' first requests in the same way gets only one of them at a start. */
const DOWN_MS = 60 * 60_000

const INSTALL_LIMITS = { firstMs: 30_000, quietMs: 30_000, maxMs: 15 * 60_000, lookMs: 1000 }

/** Almost all stdio servers are legacy, and asking for another era costs a process; a remote server is asked. */
const APPROACHES: Record<Via, Approach[]> = {
  stdio: [
    { via: 'stdio', era: 'legacy' },
    { via: 'stdio', era: 'modern' },
  ],
  http: [
    { via: 'http', era: 'auto' },
    { via: 'sse', era: 'legacy' },
  ],
  sse: [
    { via: 'sse', era: 'legacy' },
    { via: 'http', era: 'auto' },
  ],
}

/** @throws StartFailedError, BridgeError SHUTTING_DOWN */
export async function openUpstream(options: Opening): Promise<Connection> {
  const last = options.place.reached.of(options.definition)
  const remembered = last && Math.abs(Date.now() - last.at) < REACHED_MS ? last : undefined
  const installation = await installationOf(options, remembered === undefined)
  try {
    return await openIn(options, remembered, installation)
  } finally {
    void installation?.over()
  }
}

/** Undefined for a server that no package manager starts on this machine. @throws BridgeError SHUTTING_DOWN */
async function installationOf(
  { definition, transport, place, onInstalling, signal }: Opening,
  isFirst: boolean,
): Promise<Installation | undefined> {
  const { jail, installLimits } = place
  if (transport.type !== 'stdio' || jail?.startProgram || !installs.isHere) return undefined
  const { beginInstallation } = await installs.for(transport.command)
  return beginInstallation(transport.command, transport.args, {
    context: contextOf(definition, place),
    env: transport.env,
    jailHome: transport.sandbox && jail && jailHome(definition.name, jail.stateDir),
    isFirst,
    limits: { ...INSTALL_LIMITS, ...installLimits, timeoutMs: timeoutOf(definition, place) },
    onNews: onInstalling,
    signal,
  }).catch(() => {
    throw shuttingDown()
  })
}

async function openIn(
  options: Opening,
  remembered: Approach | undefined,
  installation: Installation | undefined,
): Promise<Connection> {
  const left = inOrder(options.transport.type, remembered)
  const timeoutMs = timeoutOf(options.definition, options.place)
  let first: Failure | undefined
  let probe: Failure | undefined
  for (let approach = left.shift(); approach; approach = left.shift()) {
    const hasWaited = probe?.error.code === 'UPSTREAM_TIMEOUT'
    const limitMs = hasWaited ? timeoutMs - probeLimit(timeoutMs) : timeoutMs
    const outcome = await attempt(options, approach, installation, limitMs)
    if ('connection' in outcome) {
      const found: Reached = { via: approach.via, era: outcome.connection.era, at: Date.now() }
      if (found.via !== remembered?.via || found.era !== remembered.era)
        options.place.reached.keep(options.definition, found)
      return outcome.connection
    }
    if (options.signal.aborted) throw shuttingDown()
    const { failure } = outcome
    if (failure.ofProbe && approach.era === 'auto') {
      // The server may still answer `initialize`, whose failure would be the more useful one.
      probe = failure
      left.unshift({ via: 'http', era: 'legacy', needsVersion: failure.error.code === 'UPSTREAM_TIMEOUT' })
      continue
    }
    // The first refusal is more useful than those of eras and transports that the server may not support.
    first ??= failure
    if (probe && !hasWaited && !failure.refused)
      options.place.reached.keep(options.definition, {
        via: 'http',
        era: 'legacy',
        at: Date.now() - REACHED_MS + DOWN_MS,
      })
    const versions = failure.refused && !approach.versions ? await namedVersions(failure) : []
    if (versions.length > 0) left.unshift({ via: approach.via, era: 'legacy', versions })
    if (!failure.refused && !probe?.refused)
      throw new StartFailedError(first.refused && failure.isOutage ? first : failure)
    // It answers by now, as a slow server of the modern era would.
    if (approach.needsVersion) left.unshift({ via: 'http', era: 'modern' }, { via: 'http', era: 'legacy' })
  }
  throw new StartFailedError(first!)
}

async function namedVersions({ error: { message } }: Failure): Promise<string[]> {
  const { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } = await loadSdk()
  const named = /version/i.test(message) ? message.match(/\b\d{4}-\d\d-\d\d\b/g) : undefined
  return SUPPORTED_PROTOCOL_VERSIONS.filter((one) => one !== LATEST_PROTOCOL_VERSION && named?.includes(one))
}

function probeLimit(timeoutMs: number): number {
  return Math.min(PROBE_MS, timeoutMs / 2)
}

function inOrder(type: Via, remembered: Approach | undefined): Approach[] {
  const known = APPROACHES[type]
  if (!remembered || !known.some(({ via }) => via === remembered.via)) return [...known]
  const same = ({ via, era }: Approach): boolean => via === remembered.via && era === remembered.era
  return [remembered, ...known.filter((approach) => !same(approach))]
}

async function attempt(
  options: Opening,
  { via, era, needsVersion = false, versions }: Approach,
  installation: Installation | undefined,
  limitMs: number,
): Promise<{ connection: Connection } | { failure: Failure }> {
  const { definition, transport, place, reports, signal } = options
  const attempted = new Attempt(options, installation)
  const timeoutMs = timeoutOf(definition, place)
  // A process that the bridge ends after a timeout exits, too, but its exit is not the reason.
  let exitBefore: Circumstances['exit']
  try {
    const sdk = await loadSdk()
    signal.throwIfAborted()
    const link = (attempted.link = await dial(options, via, sdk, installation))
    const connection = await handshake({
      sdk,
      link,
      era,
      needsVersion,
      versions,
      attempt: attempted,
      reports,
      clientInfo: place.clientInfo,
      allowSelf: via !== 'stdio' || place.allowSelf,
      requests: reports.callTimeouts.pausedBy(place.requests(reports.callers)),
      cleanListing: createListingCleaner(transport),
      timeoutMs: installation ? INSTALL_LIMITS.maxMs : limitMs,
      probeMs: probeLimit(timeoutMs),
      expired: installation?.expired,
      signal,
      onToolsChanged: options.onToolsChanged,
      onOfferingsChanged: options.onOfferingsChanged,
      onClose: (closed) => options.onClose(closed, attempted.about()),
      onClosing: () => (exitBefore ??= link.exit?.()),
    })
    return { connection }
  } catch (error) {
    return { failure: startFailure(error, { ...attempted.about(), exit: exitBefore }, timeoutMs) }
  }
}

function timeoutOf({ startTimeoutMs }: ServerDefinition, place: UpstreamPlace): number {
  return startTimeoutMs ?? place.startTimeoutMs
}

/** A server that its definition shares across folders works on none of them. */
function contextOf({ shared, isProjects }: ServerDefinition, { context }: UpstreamPlace): UpstreamPlace['context'] {
  return shared && !isProjects ? { ...context, cwd: context.home } : context
}

async function dial(
  options: Opening,
  via: Via,
  sdk: RemoteOptions['sdk'],
  keeper: ProcessKeeper | undefined,
): Promise<Link> {
  const { transport, place, auth } = options
  if (transport.type === 'stdio') return dialLocal(options, transport, keeper)
  // Loaded for the first one: Node's HTTPS client takes long to load.
  const { dialRemote } = await remote.for(`Server '${options.definition.name}'`)
  return dialRemote(transport, via === 'sse' ? 'sse' : 'http', {
    sdk,
    allowLinkLocal: place.allowLinkLocal,
    env: place.context.env,
    auth,
  })
}

async function dialLocal(
  { definition, place, signal }: Opening,
  server: StdioServer,
  keeper: ProcessKeeper | undefined,
): Promise<Link> {
  const { name } = definition
  const { sandbox } = server
  const { jail, log } = place
  if (jail?.startProgram) {
    const [{ programInPod }, { startInPod }] = await Promise.all([
      jails.for('MCP_BRIDGE_KUBERNETES=servers=pods'),
      import('../stdio/pod-process.ts'),
    ])
    const inPod = await startInPod(programInPod(name, server, jail.image), jail.startProgram)
    const end = () => inPod.end()
    // A pod has its own start timeout: the node may have to pull its image first.
    await untilAborted(inPod.started, signal).catch((error: unknown) => {
      void end()
      throw error
    })
    return dialProcess(() => inPod, end)
  }
  const context = await withServerPath(server, contextOf(definition, place))
  if (!sandbox) return dialProcess(() => spawnServer(server, context, undefined, keeper))
  if (!jail) throw new BridgeError('UPSTREAM_JAIL_UNAVAILABLE', 'This process makes no jails')
  const { openJail } = await jails.for(`The sandbox of ${name}`)
  const onRefused = (refused: string, host: string, reason: string): void =>
    log.warning('A jailed server was refused a connection', { server: refused, host, reason })
  const opened = await openJail(definition, { ...server, sandbox }, context, { ...jail, onRefused })
  return dialProcess(() => spawnServer(server, context, opened.launch, keeper), opened.release)
}
