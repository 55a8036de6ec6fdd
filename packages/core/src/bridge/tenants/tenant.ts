// One of those whom a bridge serves: its owner, a user over HTTP, or a client of a resident. Servers, rules and catalog
// are its own; processes are shared with tenants where nothing could tell them apart.
import { capabilitySummary, summarisedServers } from '../../calls/capability-summary.ts'
import { definitionKey } from '../../calls/catalog/model/identity.ts'
import type { Ability } from '../../calls/questions/questions.ts'
import { scopeFor } from '../../calls/scope.ts'
import { upstreamNames } from '../../calls/upstream-names.ts'
import type { ClientContext } from '../../config/settings/client-context.ts'
import { passedEnvironment } from '../../config/entries/passed-variables.ts'
import { missingInputs } from '../../config/entries/input-answers.ts'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { isAbsolutePlace, namesFolder, startInputs } from '../../config/entries/start-inputs.ts'
import { PermissionFiles } from '../../config/permission-files.ts'
import type { Log } from '../../util/log.ts'
import { sortedJson } from '../../util/json/json.ts'
import { type UpstreamNames, keepNames, listsDirectly } from './kept-upstream-names.ts'
import type { ConnectedServers, TenantOptions } from './connect-servers.ts'
import { ServerSet } from './server-set.ts'
import type { UserParts } from './users.ts'

/** What ties a tenant to others. */
export interface TenantTies {
  /** Whose servers it uses while it has nothing of its own. */
  parent?: Tenant | undefined
  /** The text about the servers is kept for the next start, and depends on these places. */
  onNamesKept?: ((text: string, places: Record<string, string>) => void) | undefined
  onClose: () => Promise<void>
  /** Called when nothing uses the definitions any more. */
  onClosed?: () => void
}

export class Tenant {
  /** What its user keeps. */
  readonly person: UserParts
  opened: ServerSet | undefined
  readonly #options: TenantOptions
  readonly #ties: TenantTies
  readonly #offered = new Set<Ability>()
  #opening: Promise<ServerSet | void> = Promise.resolve()
  #isWarm = false
  #isClosed = false

  constructor(options: TenantOptions, ties: TenantTies) {
    this.#options = options
    this.#ties = ties
    this.person = options.bridge.users.of(options.user)
  }

  /** Undefined for the owner of the bridge. */
  get user(): string | undefined {
    return this.#options.user
  }

  get log(): Log {
    return this.#options.log
  }

  get context(): ClientContext {
    return this.#options.context
  }

  /** What its clients can be asked. Counts for servers that start from now on. */
  clientOffers(abilities: Iterable<Ability>): void {
    for (const ability of abilities) this.#offered.add(ability)
    this.#ties.parent?.clientOffers(abilities)
  }

  /**
   * Returns the servers according to the current config files.
   * @param alone a set of its own, even if it has nothing of its own yet
   * @throws BridgeError CONFIG_INVALID while the rules contain a mistake: no code of the tenant runs
   */
  async now(alone = false): Promise<ServerSet> {
    const parent = await this.#ties.parent?.now()
    if (this.opened === undefined) {
      // One by one: two cells that come together must not open two sets; the next attempt may succeed.
      const opening = this.#opening.then(() => this.opened ?? this.#openOr(alone ? undefined : parent))
      this.#opening = opening.catch(() => {})
      return opening
    }
    await this.opened.configured.refresh()
    return this.opened
  }

  async #openOr(parent: ServerSet | undefined): Promise<ServerSet> {
    const { bridge, definitions, context, log } = this.#options
    const discovered = await definitions.latest()
    if (parent && definitions.hasOwn === false) return parent
    const files = new PermissionFiles(bridge.settings, context.cwd, (message) => log.warning(message))
    const policy = await files.read(discovered.found)
    const keyOf = (definition: ServerDefinition) => this.#keyOf(definition)
    const set = new ServerSet(this.#options, { discovered, files, policy, keyOf, offered: this.#offered })
    if (bridge.stores.isShared) await set.connected.catalog.ready()
    if (this.#isClosed) await set.close()
    else this.opened = set
    return set
  }

  /** Loads what a first call needs. @throws BridgeError CONFIG_INVALID, as the first cell also does */
  async warmUp(): Promise<void> {
    const { bridge, log } = this.#options
    this.#isWarm = true
    const { connected, rules } = await this.now()
    await Promise.all([connected.catalog.readAhead(), this.person.learned?.ready()])
    this.#keepNames()
    if (bridge.settings.load !== 'explicit') connected.catalog.indexAhead()
    for (const { message } of rules.unmatched()) log.warning(message)
  }

  /** What a client's instructions say of its servers; empty while the files contain a mistake. Starts nothing. */
  async upstreamNames(): Promise<UpstreamNames> {
    try {
      const { connected } = await this.now()
      await this.person.learned?.ready()
      return this.#namesOf(connected)
    } catch {
      return { text: '', hasDirect: false }
    }
  }

  async capabilitySummary(): Promise<string> {
    const { settings } = this.#options.bridge
    const { catalog } = (await this.now()).connected
    const scope = scopeFor(catalog, undefined, settings.load)
    return capabilitySummary({
      servers: summarisedServers(catalog, scope),
      savedTools: (await this.person.state.saved?.lines()) ?? [],
      facts: settings,
      unloaded: scope.unloaded,
    })
  }

  /** Keeps the text about the servers for the next start in this place. */
  #keepNames(): void {
    const { bridge, context, definitions } = this.#options
    if (!this.#isWarm || !this.opened || this.#ties.parent) return
    const names = this.#namesOf(this.opened.connected)
    this.#ties.onNamesKept?.(names.text, keepNames(bridge.settings, context, names, definitions.places))
  }

  #namesOf({ catalog, upstreams }: ConnectedServers): UpstreamNames {
    const text = upstreamNames(catalog, this.person.learned, this.#options.bridge.settings.load)
    return { text, hasDirect: listsDirectly(upstreams.definitions) }
  }

  /** How the tenant uses each of its servers; empty until they are read. */
  sharing(): { server: string; state: string; clients: number; process?: number; reason?: string }[] {
    const { upstreams } = this.opened?.connected ?? {}
    return (upstreams?.definitions ?? []).map((definition) => {
      const key = this.#keyOf(definition)
      const found = key === undefined ? undefined : this.#options.bridge.upstreams.find(key)
      const reason = whyOwn(definition)
      return {
        server: definition.name,
        state: upstreams!.of(definition.name).state,
        clients: found?.users ?? 1,
        ...(found && { process: found.id }),
        ...(reason && { reason }),
      }
    })
  }

  /** Equal for tenants of which either could use the other's process; undefined for a server that is not shared. */
  #keyOf(definition: ServerDefinition): string | undefined {
    const { context, definitions, ask, user } = this.#options
    const { transport, shared } = definition
    const { cwd, home } = context
    const env = { ...context.env, ...definitions.env }
    // What a tenant's user answers is for this tenant.
    if (shared === false || (ask && missingInputs(definition, env).length > 0)) return undefined
    return sortedJson([
      definition,
      definitionKey(definition),
      // A set of a user's own has the user's sign-ins, and shares nothing with others.
      user,
      startInputs(definition, { env, home, workspaceFolder: cwd }),
      isOfFolder(definition) && cwd,
      home,
      // Servers list other tools for clients that can be asked.
      [...this.#offered].toSorted(),
      // A server has no terminal, and each client's may be another.
      transport.type === 'stdio' && { ...passedEnvironment(env), TERM: null },
      // A helper for headers gets the whole environment, which may say whose headers they are.
      transport.type !== 'stdio' && transport.headersHelper !== undefined && env,
    ])
  }

  /** Stop using the servers. Their processes end when no other tenant has needed them for some time. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#keepNames()
    await this.#ties.onClose()
    await this.#opening
    await this.opened?.close()
    this.#ties.onClosed?.()
  }
}

/** A server without a folder of its own starts in the tenant's folder, and may work on what is there. */
function isOfFolder(definition: ServerDefinition): boolean {
  const { transport, shared, isProjects } = definition
  if (namesFolder(definition)) return true
  return transport.type === 'stdio' && !isAbsolutePlace(transport.cwd ?? '') && (!shared || isProjects === true)
}

/** Why tenants that have this server in common may have processes of their own. */
function whyOwn(definition: ServerDefinition): string | undefined {
  if (definition.shared === false) return 'its entry says "shared": false'
  if (namesFolder(definition)) return 'its entry names the folder of its client, or has a path that is relative to it'
  if (!isOfFolder(definition)) return undefined
  return 'it starts in the folder of its client; "cwd" or "shared": true in its entry makes it one for all folders'
}
