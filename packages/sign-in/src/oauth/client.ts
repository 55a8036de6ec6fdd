// Which client of the authorization server we are: one that the entry names, or one that was registered before.
import type { RemoteServer } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Grant } from '@sandbridge/core/upstream/auth'
import { lineFor, sameIssuer, withHttps } from './authorization-server.ts'
import type { OAuthClient } from './token-requests.ts'

interface Asked {
  name: string
  server: Pick<RemoteServer, 'url' | 'signIn'>
  /** The authorization server. */
  issuer: string
  /** Of the metadata that were found now. */
  elsewhere?: string | undefined
  grant: Grant | undefined
}

/**
 * Undefined where there is none yet.
 * @throws BridgeError UPSTREAM_AUTH_REQUIRED when the MCP server names another authorization server than that of the
 * entry's client: it could be its own, to obtain the secret
 */
export function clientOf({ name, server, issuer, elsewhere, grant }: Asked): OAuthClient | undefined {
  const { clientId, clientSecret } = server.signIn ?? {}
  if (clientId === undefined) return grant?.client
  assertTrusted({
    name,
    serverUrl: server.url,
    issuer,
    elsewhere,
    hasSecret: clientSecret !== undefined,
    ...trustedBy(server),
  })
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
  /** Where its metadata are, if another host has them. */
  elsewhere: string | undefined
  hasSecret: boolean
  trusted: string | undefined
  isNamed?: boolean
}): void {
  const { name, serverUrl, issuer, elsewhere, hasSecret, trusted, isNamed } = asked
  const isOwn = new URL(withHttps(issuer, serverUrl)).origin === new URL(serverUrl).origin
  const isTrusted = trusted === undefined ? !hasSecret || isOwn || isNamed === true : sameIssuer(issuer, trusted)
  if (isTrusted && !(hasSecret && elsewhere !== undefined)) return
  const [what, line] = isTrusted
    ? [`has the metadata of its authorization server at ${elsewhere}`, lineFor('authServerMetadataUrl', elsewhere!)]
    : [`requires sign-in at another address, ${new URL(issuer).origin}`, lineFor('issuer', issuer)]
  const message = `Server '${name}' ${what}: the secret of the entry is not sent there`
  throw new BridgeError('UPSTREAM_AUTH_REQUIRED', message, {
    hint: `If that is where the client is registered, ask the user to write ${line ?? 'that'} into its \`oauth\`.`,
  })
}
