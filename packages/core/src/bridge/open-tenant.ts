// What a command or a scheduled workflow uses: the command's own bridge, or a resident's, with one tenant's servers.
import type { DiscoveredServers } from '../config/entries/server-definition.ts'
import type { Session } from '../cell/session/session.ts'
import type { UserState } from '../keep/user-state.ts'
import type { Bridge } from './bridge.ts'
import type { Cells } from './cells.ts'
import type { ServerSet } from './server-set.ts'
import type { Tenant } from './tenant.ts'

export class OpenTenant {
  readonly bridge: Bridge
  readonly tenant: Tenant
  readonly set: ServerSet
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
    this.#close = close
  }

  get settings(): Bridge['settings'] {
    return this.bridge.settings
  }

  get log(): Tenant['log'] {
    return this.tenant.log
  }

  get stores(): Bridge['stores'] {
    return this.bridge.stores
  }

  get events(): Bridge['events'] {
    return this.bridge.events
  }

  get cells(): Cells {
    return this.bridge.cells
  }

  get findProvider(): Bridge['findProvider'] {
    return this.bridge.findProvider
  }

  get recordFailure(): Bridge['recordFailure'] {
    return this.bridge.recordFailure
  }

  get own(): UserState {
    return this.tenant.person.state
  }

  get rules(): ServerSet['rules'] {
    return this.set.rules
  }

  get servers(): ServerSet['connected'] {
    return this.set.connected
  }

  get catalog(): ServerSet['connected']['catalog'] {
    return this.set.connected.catalog
  }

  get upstreams(): ServerSet['connected']['upstreams'] {
    return this.set.connected.upstreams
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
