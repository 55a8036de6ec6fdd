// Signs in from the page: the user's browser opens the address, and the bridge receives the response.
import type { Bridge } from '../../../bridge/bridge.ts'

/**
 * @returns the address to open; the outcome is reported by an event.
 * @throws BridgeError as `Bridge.beginSignIn` does
 */
export async function signInTo(bridge: Bridge, server: string): Promise<{ url: string }> {
  const page = await bridge.beginSignIn(server)
  const url = bridge.signInPage?.linkTo({ server, user: undefined, page }) ?? page.href
  return { url: /^https?:/.test(url) ? url : '' }
}
