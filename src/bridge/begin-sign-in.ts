// A sign-in in a browser that is waiting for the address to open.
import { BridgeError } from '../errors.ts'
import { SIGN_IN_MS } from '../upstream/auth/sign-in-limit.ts'
import type { ConnectedServers } from './connect-servers.ts'

/**
 * How it ends comes as an event.
 * @returns the page of the authorization server
 * @throws BridgeError when the server needs no sign-in, or what `signIn` throws before there is a page
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
      // Of no effect once there was a page.
      .then(() => reject(notNeeded()), reject)
  })
}
