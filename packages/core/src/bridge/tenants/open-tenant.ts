// What a command or a scheduled workflow uses: the command's own bridge, or a resident's, with one tenant's servers.
import type { Session } from '../../cell/session/session.ts'
import type { Bridge } from '../bridge.ts'
import type { Tenant } from './tenant.ts'

export type OpenTenant = Awaited<ReturnType<typeof openTenant>>

/**
 * @param close ends the bridge; missing where it serves others, too: only the tenant then ends
 * @throws BridgeError CONFIG_INVALID while the rules of the tenant contain a mistake
 */
export async function openTenant(bridge: Bridge, tenant: Tenant, close = (): Promise<void> => tenant.close()) {
  const set = await tenant.now().catch(async (error: unknown) => {
    await close()
    throw error
  })
  const { settings, stores, events, cells, findProvider } = bridge
  const { connected } = set
  const sessions = new Set<Session>()
  const closeSession = async (session: Session): Promise<void> => {
    sessions.delete(session)
    await bridge.sessions.close(session)
  }
  return {
    bridge,
    tenant,
    set,
    settings,
    log: tenant.log,
    stores,
    events,
    cells,
    findProvider,
    own: tenant.person.state,
    rules: set.rules,
    catalog: connected.catalog,
    upstreams: connected.upstreams,
    /** As they were found last. */
    get discovered() {
      return set.configured.discovered
    },
    get recordFailure() {
      return bridge.recordFailure
    },
    /** A session that ends with the command. */
    openSession(): Session {
      const session = bridge.sessions.open(tenant)
      sessions.add(session)
      return session
    },
    closeSession,
    async close(): Promise<void> {
      await Promise.all([...sessions].map(closeSession))
      await close()
    },
  }
}
