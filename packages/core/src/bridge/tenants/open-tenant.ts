// What a command or a scheduled workflow uses: the command's own bridge, or a resident's, with one tenant's servers.
import type { DiscoveredServers } from '../../config/entries/server-definition.ts'
import type { Session } from '../../cell/session/session.ts'
import type { UserState } from '../../keep/user-state.ts'
import type { Bridge } from '../bridge.ts'
import type { Cells } from '../cells/cells.ts'
import type { ServerSet } from './server-set.ts'
import type { Tenant } from './tenant.ts'

export class OpenTenant {
  readonly bridge: Bridge
  readonly tenant: Tenant
  readonly set: ServerSet
  readonly settings: Bridge['settings']
  readonly log: Tenant['log']
  readonly stores: Bridge['stores']
  readonly events: Bridge['events']
  readonly cells: Cells
  readonly findProvider: Bridge['findProvider']
  readonly own: UserState
  readonly rules: ServerSet['rules']
  readonly servers: ServerSet['connected']
  readonly catalog: ServerSet['connected']['catalog']
  readonly upstreams: ServerSet['connected']['upstreams']
  readonly #close: () => Promise<void>
  readonly #sessions = new Set<Session>()

  /**
   * @param close ends the bridge; missing where it serves others, too: only the tenant then ends
   * @throws BridgeError CONFIG_INVALID while the rules of the tenant contain a mistake
   */
  static async of(bridge: Bridge, tenant: Tenant, close?: () => Promise<void>): Promise<OpenTenant> {
    try {
      return new OpenTenant(bridge, tenant, await tenant.now(), close ?? (() => tenant.close()))
    } catch (error) {
      await (close ? close() : tenant.close())
      throw error
    }
  }

  private constructor(bridge: Bridge, tenant: Tenant, set: ServerSet, close: () => Promise<void>) {
    this.bridge = bridge
    this.tenant = tenant
    this.set = set
    this.settings = bridge.settings
    this.log = tenant.log
    this.stores = bridge.stores
    this.events = bridge.events
    this.cells = bridge.cells
    this.findProvider = bridge.findProvider
    this.own = tenant.person.state
    this.rules = set.rules
    this.servers = set.connected
    this.catalog = set.connected.catalog
    this.upstreams = set.connected.upstreams
    this.#close = close
  }

  get recordFailure(): Bridge['recordFailure'] {
    return this.bridge.recordFailure
  }

  get discovered(): DiscoveredServers {
    return this.set.configured.discovered
  }

  /** A session that ends with the command. */
  openSession(): Session {
    const session = this.bridge.sessions.open(this.tenant)
    this.#sessions.add(session)
    return session
  }

  async closeSession(session: Session): Promise<void> {
    this.#sessions.delete(session)
    await this.bridge.sessions.close(session)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => this.closeSession(session)))
    await this.#close()
  }
}
