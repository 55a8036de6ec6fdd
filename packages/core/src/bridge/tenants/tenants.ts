// Those whom a bridge serves (owner, users over HTTP, clients of a resident), and their common upstreams.
import { shellWord } from '../../config/secrets/command-line.ts'
import { Definitions } from '../../config/definitions.ts'
import type { ClientContext } from '../../config/settings/client-context.ts'
import { UserDefinitions } from '../../config/user-definitions.ts'
import { BridgeError } from '../../errors.ts'
import { userFolder } from '../../keep/user-folder.ts'
import type { SignInPage } from '../../upstream/oauth-part.ts'
import { SharedUpstreams } from '../../upstream/shared-upstreams.ts'
import type { Log } from '../../util/log.ts'
import { Tenant, type TenantOptions } from './tenant.ts'
import type { Users } from './users.ts'

/** The longest user name shown in a hint. */
const MAX_NAME_CHARS = 200

/** What all tenants have alike, but for their log. */
type Common = 'settings' | 'log' | 'stores' | 'events' | 'questions' | 'page' | 'startProgram'
/** What `#add` gives to all. */
type Given = Exclude<Common, 'log'> | 'upstreamLog' | 'person' | 'sharedUpstreams' | 'hiddenToo' | 'onGone' | 'onClose'

interface TenantsOptions {
  common: Pick<TenantOptions, Common>
  users: Users
  /** Of the bridge's owner. Missing in a resident, which has none. */
  context: ClientContext | undefined
  ask: TenantOptions['ask']
  signInPage: SignInPage | undefined
  /** The port of this bridge's HTTP server, if it has one. */
  ownPort: number | undefined
}

/** What only some clients bring. */
export type OfClient = Partial<Pick<TenantOptions, 'onBehindKept' | 'ask'>>

export class Tenants {
  readonly #all = new Set<Tenant>()
  readonly #byUser = new Map<string | undefined, Tenant>()
  readonly #shared = new SharedUpstreams()
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
    const { common, context, ask } = this.#options
    if (!context) throw new BridgeError('PROXY_SERVER_UNAVAILABLE', 'This bridge runs code only for a connected client')
    const tenant = user === undefined ? this.connect(context, common.log, { ask }) : this.#ofUser(user, context)
    this.#byUser.set(user, tenant)
    return tenant
  }

  /** A tenant for as long as it is connected: see `Bridge.connect`. */
  connect(context: ClientContext, log: Log, { onBehindKept, ask }: OfClient = {}): Tenant {
    const of = JSON.stringify(context)
    const known = this.#left?.of === of ? this.#left.definitions : undefined
    // One that is in use tells its user alone of a change.
    if (known) this.#left = undefined
    const definitions = known ?? new Definitions(this.#options.common.settings, context, this.#options.ownPort)
    return this.#add({
      context,
      log,
      definitions,
      onBehindKept,
      ask,
      signInPlace: { page: this.#options.signInPage, loginOptions: '' },
      onClosed: () => (this.#left = { of, definitions }),
    })
  }

  #ofUser(user: string, context: ClientContext): Tenant {
    const { common, signInPage, ownPort } = this.#options
    const { settings, log } = common
    const { stateDir } = settings
    const parent = this.of(undefined)
    const folder = userFolder(stateDir, user)
    const shared = () => parent.opened!.configured.discovered
    return this.#add({
      context,
      log,
      user,
      parent,
      definitions: new UserDefinitions({ settings, context, folder, shared, ownPort }),
      ask: undefined,
      signInPlace: { page: signInPage, loginOptions: ` --user ${shellWord(user, MAX_NAME_CHARS)}` },
      folders: { stateDir: folder },
    })
  }

  #add(own: Omit<TenantOptions, Given>): Tenant {
    const { common, users } = this.#options
    const tenant = new Tenant({
      ...common,
      upstreamLog: common.log,
      ...own,
      person: users.of(own.user),
      sharedUpstreams: this.#shared,
      hiddenToo: () =>
        [...this.#all].flatMap(({ opened }) => opened?.configured.discovered.files.map(({ file }) => file) ?? []),
      onGone: (servers, user) => users.forgetServers(servers, user),
      onClose: async (closing) => {
        // Secrets of its servers are redacted in events that observers have not received yet.
        common.events.flush()
        if (!this.#isClosing) this.#all.delete(closing)
        await users.flush()
      },
    })
    this.#all.add(tenant)
    return tenant
  }

  /** All tenants that have servers of their own, as far as these are open. */
  *opened() {
    for (const { opened } of this.#all) if (opened) yield opened.connected
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled([...this.#all].map((tenant) => tenant.close()))
    await this.#shared.close()
  }
}
