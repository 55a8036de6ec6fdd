// Signing in from the page: the browser that shows it opens the address, and the answer comes back to the bridge.
import type { Bridge } from '../bridge.ts'
import { BridgeError } from '../errors.ts'

const LIMIT_MS = 5 * 60_000

/** @returns the address to open. How it ends comes as an event. @throws BridgeError when the server needs no sign-in, or `signIn` fails before it has an address */
export function signInTo(bridge: Bridge, server: string): Promise<{ url: string }> {
  if (!bridge.upstreams.canSignIn(server)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Server '${server}' has no sign-in`, { hint: '' })
  }
  return new Promise((resolve, reject) => {
    bridge.upstreams
      .signIn(server, {
        showPage: async ({ href }) => resolve({ url: /^https?:/.test(href) ? href : '' }),
        signal: AbortSignal.timeout(LIMIT_MS),
      })
      .then(() => bridge.catalog.index([server]))
      .catch(reject)
  })
}
