// Whether requests to a server are authorized by its entry, or by its user's sign-in, and how long that may take. Pure.
import type { RemoteServer } from '../../config/entries/server-definition.ts'

/** How long a user may take to sign in to a server, in milliseconds. */
export const SIGN_IN_MS = 5 * 60_000

/** What an entry itself authorizes requests with. */
export type OwnCredentials = 'client credentials' | 'headersHelper' | 'header'

/** When they are refused, the user corrects the entry. */
export function ownCredentials(server: RemoteServer): OwnCredentials | undefined {
  if (server.oauth) return 'client credentials'
  if (server.headersHelper !== undefined) return 'headersHelper'
  return mayLogIn(server) ? undefined : 'header'
}

/** @param server with the headers of its helper, which may be others than for authorization */
export function mayLogIn({ headers, oauth: credentials }: RemoteServer): boolean {
  return !credentials && !Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
}
