// Lets the page of another bridge of this user show and use this one. What that takes is loaded when it is asked for.
import type { Bridge } from '../bridge.ts'

export function offerPage(bridge: Bridge): void {
  let asked: Promise<(params: Record<string, unknown>) => Promise<unknown>> | undefined
  const load = async (): Promise<(params: Record<string, unknown>) => Promise<unknown>> => {
    const { answerFrom, createBridgeRoutes } = await import('../ui/bridge-routes.ts')
    const routes = createBridgeRoutes(bridge)
    return ({ path, params }) => answerFrom(routes, path, params)
  }
  bridge.offer({ page: async (params) => (await (asked ??= load()))(params) })
}
