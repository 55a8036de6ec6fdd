// Which client of the authorization server we are: one that the entry names, or one that was registered before.
import type { RemoteServer } from '@sandbridge/core/config/entries/server-definition.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Grant } from '@sandbridge/core/upstream/auth/grants.ts'
import { sameIssuer, withHttps } from './authorization-server.ts'
import type { OAuthClient } from './token-requests.ts'

interface Asked {
  name: string
  server: Pick<RemoteServer, 'url' | 'signIn'>
  /** The authorization server. */
  issuer: string
  grant: Grant | undefined
}

/**
 * Undefined where there is none yet.
 * @throws BridgeError UPSTREAM_AUTH_REQUIRED when the MCP server names another authorization server than that of the
 * entry's client: it could be its own, to obtain the secret
 */
export function clientOf({ name, server, issuer, grant }: Asked): OAuthClient | undefined {
  const { clientId, clientSecret } = server.signIn ?? {}
  if (clientId === undefined) return grant?.client
  assertTrusted({ name, serverUrl: server.url, issuer, hasSecret: clientSecret !== undefined, ...trustedBy(server) })
  return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
}

/** What the entry says of the authorization server is the user's own word. */
function trustedBy({ signIn }: Asked['server']): { trusted: string | undefined; isNamed: boolean } {
  const { issuer, authServerMetadataUrl, tokenUrl } = signIn ?? {}
  return { trusted: issuer, isNamed: authServerMetadataUrl !== undefined || tokenUrl !== undefined }
}

/** @throws BridgeError UPSTREAM_AUTH_REQUIRED */
export function assertTrusted(asked: {
  name: string
  serverUrl: string
  issuer: string
  hasSecret: boolean
  trusted: string | undefined
  isNamed?: boolean
}): void {
  const { name, serverUrl, issuer, hasSecret, trusted, isNamed } = asked
  const isOwn = new URL(withHttps(issuer, serverUrl)).origin === new URL(serverUrl).origin
  if (trusted === undefined ? !hasSecret || isOwn || isNamed === true : sameIssuer(issuer, trusted)) return
  throw new BridgeError(
    'UPSTREAM_AUTH_REQUIRED',
    `Server '${name}' requires sign-in at another address, ${new URL(issuer).origin}`,
    {
      hint: `If that is where the client is registered, ask the user to write "issuer": "${issuer}" into its \`oauth\`.`,
    },
  )
}
