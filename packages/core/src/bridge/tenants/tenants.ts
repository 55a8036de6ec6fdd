// Those whom a bridge serves (owner, users over HTTP, clients of a resident), and their common upstreams.
import type { AskInput } from '../../config/entries/input-answers.ts'
import { Definitions } from '../../config/definitions.ts'
import type { ClientContext } from '../../config/settings/client-context.ts'
import { UserDefinitions } from '../../config/user-definitions.ts'
import { BridgeError } from '../../errors.ts'
import { userFolder } from '../../util/stores/stored-name.ts'
import type { Log } from '../../util/log.ts'
import type { TenantOptions, TenantsBridge } from './connect-servers.ts'
import { Tenant, type TenantTies } from './tenant.ts'

interface TenantsOptions {
  bridge: TenantsBridge
  /** Of the bridge's owner. Missing in a resident, which has none. */
  context: ClientContext | undefined
  ask: AskInput | undefined
  /** The port of this bridge's HTTP server, if it has one. */
  ownPort: number | undefined
}

/** What only some clients bring. */
export type OfClient = Pick<TenantTies, 'onNamesKept'> & Pick<TenantOptions, 'ask'>

export class Tenants {
  readonly #all = new Set<Tenant>()
  readonly #byUser = new Map<string | undefined, Tenant>()
  /** Of the client that has gone last. The next one of the same place, as a command of the same shell, takes it. */
  #left: { of: string; definitions: Definitions } | undefined
  readonly #options: TenantsOptions
  #isClosing = false

  constructor(options: TenantsOptions) {
    this.#options = options
  }

  /**
   * Returns a user's tenant, made at its first use; without a name, that of the bridge's owner.
   * @throws BridgeError PROXY_SERVER_UNAVAILABLE in a resident bridge: rules and servers come from a client alone
   */
  of(user?: string): Tenant {
    const known = this.#byUser.get(user)
    if (known) return known
    const { bridge, context, ask } = this.#options
    if (!context) throw new BridgeError('PROXY_SERVER_UNAVAILABLE', 'This bridge runs code only for a connected client')
    const tenant = user === undefined ? this.connect(context, bridge.log, { ask }) : this.#ofUser(user, context)
    this.#byUser.set(user, tenant)
    return tenant
  }

  /** A tenant for as long as it is connected: see `Bridge.connect`. */
  connect(context: ClientContext, log: Log, { onNamesKept, ask }: OfClient = {}): Tenant {
    const of = JSON.stringify(context)
    const known = this.#left?.of === of ? this.#left.definitions : undefined
    // One that is in use tells its user alone of a change.
    if (known) this.#left = undefined
    const { bridge, ownPort } = this.#options
    const definitions = known ?? new Definitions(bridge.settings, context, ownPort)
    return this.#add(
      { bridge, context, log, definitions, ask },
      { onNamesKept, onClosed: () => (this.#left = { of, definitions }) },
    )
  }

  #ofUser(user: string, context: ClientContext): Tenant {
    const { bridge, ownPort } = this.#options
    const { settings, log } = bridge
    const parent = this.of(undefined)
    const shared = () => parent.opened!.configured.discovered
    const folder = userFolder(settings.stateDir, user)
    const definitions = new UserDefinitions({ settings, context, folder, shared, ownPort })
    return this.#add({ bridge, context, log, user, definitions }, { parent })
  }

  #add(own: TenantOptions, ties: Omit<TenantTies, 'onClose'>): Tenant {
    const onClose = async (): Promise<void> => {
      // Secrets of its servers are redacted in events that observers have not received yet.
      own.bridge.events.flush()
      if (!this.#isClosing) this.#all.delete(tenant)
      await own.bridge.users.flush()
    }
    const tenant = new Tenant(own, { ...ties, onClose })
    this.#all.add(tenant)
    return tenant
  }

  get configFiles(): string[] {
    return [...this.#all].flatMap(({ opened }) => opened?.configured.files ?? [])
  }

  /** All tenants that have servers of their own, as far as these are open. */
  *opened() {
    for (const { opened } of this.#all) if (opened) yield opened.connected
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled([...this.#all].map((tenant) => tenant.close()))
    await this.#options.bridge.upstreams.close()
  }
}
