// The open sessions and what they share: warm kernels, and the storage for their output.
import path from 'node:path'
import type { Settings } from '../../config/settings/settings.ts'
import type { EventStream } from '../../observe/events/event-stream.ts'
import type { Log } from '../../util/log.ts'
import type { ProcessUsage } from '../../util/process/process-tree-usage.ts'
import { KeptTexts } from '../../cell/session/kept-text.ts'
import type { KernelPool } from '../../cell/session/kernel-pool.ts'
import type { KeptFor } from '../../cell/session/kept-for.ts'
import { Session } from '../../cell/session/session.ts'
import { BridgeError } from '../../errors.ts'
import type { Tenant } from '../tenants/tenant.ts'

interface OpenSessionsOptions {
  settings: Settings
  log: Log
  events: EventStream
  pool: KernelPool
}

export class OpenSessions {
  readonly #options: OpenSessionsOptions
  readonly #texts: KeptTexts
  readonly #open = new Set<Session>()
  readonly #tenants = new WeakMap<Session, Tenant>()

  constructor(options: OpenSessionsOptions) {
    const { settings, log } = options
    this.#options = options
    const folder = path.join(settings.cacheDir, 'outputs')
    this.#texts = new KeptTexts({ folder, log })
  }

  /**
   * @param tenant whose session it is: its cells run with this tenant's servers, rules and state
   * @param kept names the owner of the session, who gets a durable sandbox back; missing for one that no client has
   */
  open(tenant: Tenant, kept?: KeptFor): Session {
    const { pool, log, events, settings } = this.#options
    const { session: mode, memoryBytes, maxTimeoutMs, outputTokenCount } = settings
    const session = new Session({
      pool,
      texts: this.#texts,
      log,
      events,
      idleTimeoutMs: settings.runtimeIdleTimeoutMs,
      fresh: mode === 'fresh',
      kept: mode === 'durable' ? kept : undefined,
      owner: kept,
      checkpoint: mode === 'checkpoint',
      json: settings.outputMode === 'toon',
      compat: settings.compat,
      limits: { memoryBytes, maxTimeoutSeconds: maxTimeoutMs / 1000, outputTokenCount },
    })
    this.#open.add(session)
    this.#tenants.set(session, tenant)
    return session
  }

  /** Whose session it is. Whoever types a cell there has this tenant's servers: code that it left may run with them. */
  tenantOf(session: Session): Tenant {
    const tenant = this.#tenants.get(session)
    if (tenant) return tenant
    throw new BridgeError('PROXY_SERVER_UNAVAILABLE', 'This bridge runs code only for a connected client')
  }

  /** Whether an earlier bridge kept a sandbox for this session. */
  async keeps(kept: ReturnType<KeptFor>): Promise<boolean> {
    const { settings, pool } = this.#options
    return settings.session === 'durable' && (await pool.keeps(kept))
  }

  find(id: string): Session | undefined {
    return [...this.#open].find((session) => session.id === id)
  }

  async close(session: Session): Promise<void> {
    await session.close()
    this.#open.delete(session)
  }

  /** Like `close`, when another bridge goes on with the session: leaves it a durable sandbox. */
  async leave(session: Session): Promise<void> {
    await session.leave('The bridge was shut down')
    this.#open.delete(session)
  }

  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#open].map((session) => this.leave(session)))
    this.#texts.close()
  }

  /** Resource usage of each session's sandbox. Skips sessions without a sandbox or without a known usage. */
  async usage(): Promise<({ session: string } & ProcessUsage)[]> {
    const all = [...this.#open].map(async ({ id, sandbox }) => {
      const usage = await sandbox?.usage?.()
      return usage ? [{ session: id, ...usage }] : []
    })
    return (await Promise.all(all)).flat()
  }
}
