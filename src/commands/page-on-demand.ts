// The page of a bridge whose user sits at this machine, for questions that a client cannot ask. Nothing of it is loaded before the first of them.
import type { Bridge } from '../bridge.ts'

/** @throws BridgeError CONFIG_INVALID when no port can be listened on */
export async function pageOnDemand(bridge: Bridge): Promise<void> {
  const { servePage } = await import('../ui/serve-page.ts')
  await servePage(bridge, 0)
}
