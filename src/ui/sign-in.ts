// Signing in from the page: the browser that shows it opens the address, and the answer comes back to the bridge.
import type { Bridge } from '../bridge.ts'

/** @returns the address to open. How it ends comes as an event. @throws BridgeError as `Bridge.beginSignIn` does */
export async function signInTo(bridge: Bridge, server: string): Promise<{ url: string }> {
  const page = await bridge.beginSignIn(server)
  const url = bridge.signInPage?.linkTo({ server, user: undefined, page }) ?? page.href
  return { url: /^https?:/.test(url) ? url : '' }
}
