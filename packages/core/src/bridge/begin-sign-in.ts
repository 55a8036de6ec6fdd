// Begins a sign-in for a browser that waits for the address of the authorization page.
import { BridgeError } from '../errors.ts'
import { SIGN_IN_MS } from '../upstream/auth/own-credentials.ts'
import type { ConnectedServers } from './connect-servers.ts'

/**
 * Resolves once the page is known. An event reports how the sign-in ended.
 * @returns the page of the authorization server
 * @throws BridgeError when the server needs no sign-in, or what `signIn` throws before it has a page
 */
export function beginSignIn({ upstreams, catalog }: ConnectedServers, server: string): Promise<URL> {
  const notNeeded = () =>
    new BridgeError('TOOL_ARGUMENTS_INVALID', `Server '${server}' needs no sign-in, or has one`, { hint: '' })
  if (!upstreams.canSignIn(server)) throw notNeeded()
  return new Promise((resolve, reject) => {
    const showPage = (page: URL): Promise<void> => Promise.resolve(resolve(page))
    upstreams
      .signIn(server, { showPage, signal: AbortSignal.timeout(SIGN_IN_MS) })
      .then(() => catalog.index([server]))
      // No effect if the promise already resolved with a page.
      .then(() => reject(notNeeded()), reject)
  })
}
