// The page of a bridge: when it is served, and which tenant's servers it shows.
import type { AnswerPage } from '../calls/permissions/answer-page.ts'
import type { Log } from '../util/log.ts'
import type { ServerSet } from './tenants/server-set.ts'
import type { Tenant } from './tenants/tenant.ts'
import type { Tenants } from './tenants/tenants.ts'

interface PageOptions {
  log: Log
  tenants: Tenants
  /** Starts serving the page. Missing: no page. */
  serve: (() => Promise<void>) | undefined
}

export class BridgePage {
  /** Where the user answers questions about calls, while it is served. */
  service: AnswerPage | undefined
  readonly #options: PageOptions
  #tenant: Tenant | undefined
  #served: Promise<void> | undefined

  constructor(options: PageOptions) {
    this.#options = options
  }

  /** Returns the page, and starts serving it if needed. */
  async open(): Promise<AnswerPage | undefined> {
    const { log, serve } = this.#options
    this.#served ??= this.service ? undefined : serve?.()
    await this.#served?.catch((error: unknown) => log.warning('The page cannot be served', { error }))
    return this.service
  }

  /** Whose servers it shows and uses. */
  get tenant(): Tenant {
    return this.#tenant ?? this.#options.tenants.of()
  }

  /** @throws BridgeError CONFIG_INVALID while the rules of that tenant contain a mistake */
  async servers(): Promise<ServerSet> {
    return this.tenant.now()
  }

  /** Shows and uses the servers of this tenant from now on. */
  async showServersOf(tenant: Tenant): Promise<void> {
    const before = this.#tenant
    this.#tenant = tenant
    await before?.close()
  }

  async close(): Promise<void> {
    await this.#served?.catch(() => {})
    this.service?.close()
  }
}
