// The servers, rules and catalog of one client of a bridge that serves several: those of its own folder, home and
// environment. Only the processes behind them may be shared with other clients, where nothing could tell them apart.
import { definitionKey } from '../calls/catalog/disk-cache.ts'
import type { Ability } from '../calls/questions/questions.ts'
import type { ClientContext } from '../config/settings/client-context.ts'
import type { Definitions } from '../config/definitions.ts'
import { passedEnvironment } from '../config/entries/passed-variables.ts'
import { missingInputs } from '../config/entries/inputs.ts'
import type { ServerDefinition } from '../config/entries/server-definition.ts'
import { isAbsolutePlace, namesFolder, startInputs } from '../config/entries/start-inputs.ts'
import { PermissionFiles } from '../config/permission-files.ts'
import type { SharedUpstreams } from '../upstream/shared-upstreams.ts'
import type { Log } from '../util/log.ts'
import { sortedJson } from '../util/json/sorted-json.ts'
import { openSharedCatalog } from './open-shared-catalog.ts'
import { ServerSet, type ServerSetOptions } from './server-set.ts'

export interface ClientServersOptions extends Omit<
  ServerSetOptions,
  'discovered' | 'files' | 'policy' | 'sharedCatalog' | 'signInPlace' | 'shared' | 'offered'
> {
  /** Of this client's place, and no other's while it is connected. */
  definitions: Definitions
  sharedUpstreams: SharedUpstreams
  /** The text about the servers is kept for the client's next start, and depends on these places. */
  onBehindKept: ((text: string, places: Record<string, string>) => void) | undefined
  /** Called before the servers are given up. */
  onClose: (servers: ClientServers) => Promise<void>
  /** Called when nothing uses the definitions any more. */
  onClosed: () => void
}

export class ClientServers {
  readonly #options: ClientServersOptions
  readonly #offered = new Set<Ability>()
  #opening: Promise<ServerSet> | undefined
  #opened: ServerSet | undefined
  #isClosed = false

  constructor(options: ClientServersOptions) {
    this.#options = options
  }

  /** What the client can be asked. Counts for servers that start from now on. */
  clientOffers(abilities: Iterable<Ability>): void {
    for (const ability of abilities) this.#offered.add(ability)
  }

  get log(): Log {
    return this.#options.log
  }

  get context(): ClientContext {
    return this.#options.context
  }

  /** The state of all files that decide which servers there are. */
  get places(): Record<string, string> {
    return this.#options.definitions.places
  }

  /** Tells that the text about the servers is kept. */
  get onBehindKept(): ClientServersOptions['onBehindKept'] {
    return this.#options.onBehindKept
  }

  /** The set, once it is open. */
  get opened(): ServerSet | undefined {
    return this.#opened
  }

  /**
   * Returns the servers according to the current config files.
   * @throws BridgeError CONFIG_INVALID while the rules contain a mistake: no code of the client runs
   */
  async now(): Promise<ServerSet> {
    this.#opening ??= this.#open()
    // A mistake in the rules may be corrected before the next attempt.
    this.#opening.catch(() => (this.#opening = undefined))
    const set = await this.#opening
    await set.configured.refresh()
    return set
  }

  async #open(): Promise<ServerSet> {
    const { sharedUpstreams, onClose: _, onClosed: __, onBehindKept: ___, ...options } = this.#options
    const { settings, context, log, stores, definitions } = options
    const discovered = await definitions.latest()
    const files = new PermissionFiles(settings, context.cwd, (message) => log.warning(message))
    const policy = await files.read(discovered.found)
    const set = new ServerSet({
      ...options,
      signInPlace: { page: undefined, loginOptions: '' },
      sharedCatalog: await openSharedCatalog(stores, undefined, discovered.servers, settings.cacheDir, log),
      discovered,
      files,
      policy,
      offered: this.#offered,
      shared: {
        upstreams: sharedUpstreams,
        keyOf: (definition) => this.#keyOf(definition),
      },
    })
    this.#opened = set
    if (this.#isClosed) await set.close()
    return set
  }

  /** How the client uses each of its servers; empty until they are read. */
  sharing(): { server: string; state: string; clients: number; process?: number; reason?: string }[] {
    const { upstreams } = this.#opened?.connected ?? {}
    const { sharedUpstreams } = this.#options
    return (upstreams?.definitions ?? []).map((definition) => {
      const key = this.#keyOf(definition)
      const found = key === undefined ? undefined : sharedUpstreams.find(key)
      const reason = whyOwn(definition)
      return {
        server: definition.name,
        state: upstreams!.state(definition.name),
        clients: found?.users ?? 1,
        ...(found && { process: found.id }),
        ...(reason && { reason }),
      }
    })
  }

  #keyOf(definition: ServerDefinition): string | undefined {
    const { context, ask } = this.#options
    // What this client's user answers is for this client.
    if (ask && missingInputs(definition, context.env).length > 0) return undefined
    return serverKey(definition, context, this.#offered)
  }

  /** Stop using the servers. Their processes end when no other client has needed them for some time. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#options.onClose(this)
    await this.#opened?.close()
    this.#options.onClosed()
  }
}

/**
 * Equal for two clients of which either could use the other's process; undefined for a server that its definition keeps
 * to one client. The name is part of it, so that questions, logs and errors have one.
 */
function serverKey(
  definition: ServerDefinition,
  { env, cwd, home }: ClientContext,
  offered: ReadonlySet<Ability>,
): string | undefined {
  const { transport, shared } = definition
  if (shared === false) return undefined
  return sortedJson([
    definition,
    definitionKey(definition),
    startInputs(definition, { env, home, workspaceFolder: cwd }),
    isOfFolder(definition) && cwd,
    home,
    // Servers list other tools for clients that can be asked.
    [...offered].toSorted(),
    // A server has no terminal, and each client's may be another.
    transport.type === 'stdio' && { ...passedEnvironment(env), TERM: null },
  ])
}

/** A server without a folder of its own starts in the client's folder, and may work on what is there. */
function isOfFolder(definition: ServerDefinition): boolean {
  const { transport, shared, isProjects } = definition
  if (namesFolder(definition)) return true
  return transport.type === 'stdio' && !isAbsolutePlace(transport.cwd ?? '') && (!shared || isProjects === true)
}

/** Why clients that have this server in common may have processes of their own. */
function whyOwn(definition: ServerDefinition): string | undefined {
  if (definition.shared === false) return 'its entry says "shared": false'
  if (namesFolder(definition)) return 'its entry names the folder of its client, or has a path that is relative to it'
  if (!isOfFolder(definition)) return undefined
  return 'it starts in the folder of its client; "cwd" or "shared": true in its entry makes it one for all folders'
}
