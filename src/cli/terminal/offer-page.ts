// How a bridge of this user gets a page: another bridge's page shows it, or it serves its own. Either module is loaded
// on first use.
import type { Bridge } from '../../bridge/bridge.ts'

/** Lets the page of another bridge show and use this one. */
export function offerPage(bridge: Bridge): void {
  let asked: Promise<(params: Record<string, unknown>) => Promise<unknown>> | undefined
  const load = async (): Promise<(params: Record<string, unknown>) => Promise<unknown>> => {
    const { answerFrom, createBridgeRoutes } = await import('../../serve/page/bridge-routes.ts')
    const routes = createBridgeRoutes(bridge)
    return ({ path, params }) => answerFrom(routes, path, params)
  }
  bridge.offer({ page: async (params) => (await (asked ??= load()))(params) })
}

/**
 * A page for questions that a client cannot ask its user, who sits at this machine.
 * @throws BridgeError CONFIG_INVALID when no port can be listened on
 */
export async function pageOnDemand(bridge: Bridge): Promise<void> {
  const { servePage } = await import('../../serve/page/serve-page.ts')
  await servePage(bridge, 0)
}
