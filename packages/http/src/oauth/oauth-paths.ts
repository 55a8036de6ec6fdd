// Where clients look for a sign-in after a 401; users see the last answer, which says that there is none.
import type { ServerResponse } from 'node:http'

const OAUTH_PATH = /\/\.well-known(?:\/|$)|\/(?:register|authorize|token|revoke|introspect)$/

export function isOAuthPath(path: string): boolean {
  return OAUTH_PATH.test(path)
}

/** In the form of an OAuth error (RFC 6749, section 5.2), of which clients show the description. */
export function answerOAuthPath(response: ServerResponse, issuers: readonly string[]): void {
  const description =
    issuers.length > 0
      ? `The sign-in of this bridge is at ${issuers.join(' or ')}, not here.`
      : 'This bridge has no sign-in: each request must carry its token as Authorization: Bearer TOKEN. A client that ' +
        'looks for a sign-in has sent no token, or one that is not valid.'
  const body = JSON.stringify({ error: 'invalid_request', error_description: description })
  response.writeHead(404, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
