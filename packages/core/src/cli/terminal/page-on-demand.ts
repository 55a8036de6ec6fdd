// The page of a bridge that serves clients, from the first question on that a client cannot ask its user.
import type { Bridge } from '../../bridge/bridge.ts'
import { page } from '../../serve/page-part.ts'

/**
 * For a user who sits at this machine.
 * @throws BridgeError CONFIG_INVALID when no port can be listened on
 */
export async function pageOnDemand(bridge: Bridge): Promise<void> {
  const { servePage } = await page.for('A question that the client cannot show')
  await servePage(bridge, 0)
}
