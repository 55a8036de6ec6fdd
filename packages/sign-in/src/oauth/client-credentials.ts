// Authorizes requests as a program instead of a user (OAuth client credentials grant, RFC 6749 section 4.4): no
// browser, and the token stays in memory. The secret is sent to one authorization server only.
import type { OAuthClientProvider, OAuthTokens } from '@modelcontextprotocol/client'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { redactStart } from '@sandbridge/core/config/secrets/redact.ts'
import { loadSdk } from '@sandbridge/core/upstream/connection/sdk.ts'
import type { ClientCredentialsOptions, ServerAuth } from '@sandbridge/core/upstream/oauth-part.ts'
import { authorizationFetch, authorizationServerFailed } from './authorization-fetch.ts'
import { SentTokens } from './sent-tokens.ts'

/** Stop after this many new tokens in a row that the server refused at once; then only a changed definition helps. */
const MAX_VAIN_TOKENS = 3
const AT_ONCE_MS = 30_000

/**
 * @throws (from `onUnauthorized`) BridgeError UPSTREAM_AUTH_REQUIRED, or UPSTREAM_UNREACHABLE when the authorization
 * server fails
 */
export function createClientCredentialsAuth(options: ClientCredentialsOptions): ServerAuth {
  const { name, redact, now, limitMs } = options
  let tokens: OAuthTokens | undefined
  let takenAt = -Infinity
  let vainCount = 0
  let asking: Promise<void> | undefined
  const sent = new SentTokens()

  const provider = providerFor(options)

  const ask = async (context: Parameters<NonNullable<ServerAuth['onUnauthorized']>>[0]): Promise<void> => {
    const isVain = tokens !== undefined && !sent.wasAccepted(tokens.access_token) && now() - takenAt < AT_ONCE_MS
    vainCount = isVain ? vainCount + 1 : 0
    if (vainCount >= MAX_VAIN_TOKENS) throw refused(name, 'the server does not accept the tokens')
    tokens = undefined
    const sdk = await loadSdk()
    const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(context.response)
    const authorization = authorizationFetch(context.fetchFn, redact, limitMs)
    const fetchFn = authorization.fetch
    try {
      // The package's `auth` would write the authorization server's response, which may contain the secret, to stderr.
      const found = await sdk.discoverOAuthServerInfo(context.serverUrl, {
        fetchFn,
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
      })
      const resource = await sdk.selectResourceURL(context.serverUrl, provider, found.resourceMetadata)
      tokens = await sdk.fetchToken(provider, found.authorizationServerUrl, {
        fetchFn,
        ...(found.authorizationServerMetadata && { metadata: found.authorizationServerMetadata }),
        ...(resource && { resource: found.resourceMetadata?.resource ?? resource }),
        ...(scope !== undefined && { scope }),
      })
      takenAt = now()
    } catch (error) {
      if (BridgeError.isInstance(error)) throw error
      const trouble = authorization.trouble()
      if (trouble === undefined) throw refused(name, redactStart(redact, messageOf(error), 500))
      throw authorizationServerFailed(name, trouble)
    }
  }

  return {
    token: () => Promise.resolve(tokens?.access_token),
    onResponse: (authorization, response) => sent.note(authorization, response),
    onUnauthorized: (context) => {
      // All requests that were refused with one token share the request for a new one. A refusal that arrives after it
      // is about the old token.
      const isCurrent = tokens === undefined || sent.refusedBy(context.response) === tokens.access_token
      if (!asking && !isCurrent) return Promise.resolve()
      asking ??= ask(context).finally(() => (asking = undefined))
      return asking
    },
  }
}

function refused(name: string, reason: string): BridgeError {
  return new BridgeError(
    'UPSTREAM_AUTH_REQUIRED',
    `The client credentials of server '${name}' do not work: ${reason}`,
    {
      hint: 'Ask the user to correct `oauth` in the definition of the server.',
    },
  )
}

/** The client, in the form that the package expects. */
function providerFor({ name, serverUrl, credentials }: ClientCredentialsOptions): OAuthClientProvider {
  const { clientId, clientSecret, scope, issuer } = credentials
  const unused = (): never => {
    throw new Error('client credentials need no user')
  }
  return {
    redirectUrl: undefined,
    clientMetadata: {
      client_name: 'Sandbridge',
      redirect_uris: [],
      grant_types: ['client_credentials'],
      ...(scope !== undefined && { scope }),
    },
    clientInformation: (context) => {
      const named = context?.issuer
      // The MCP server names the authorization server, so it could name its own to obtain a secret that is meant for
      // another.
      if (issuer === undefined && named !== undefined && new URL(named).origin !== new URL(serverUrl).origin) {
        throw new BridgeError(
          'UPSTREAM_AUTH_REQUIRED',
          `Server '${name}' requests its client secret for another address, ${new URL(named).origin}`,
          {
            hint: `If that is where the client is registered, ask the user to add "issuer": "${named}" to its \`oauth\`.`,
          },
        )
      }
      const bound = issuer ?? named
      return { client_id: clientId, client_secret: clientSecret, ...(bound !== undefined && { issuer: bound }) }
    },
    tokens: () => undefined,
    saveTokens: unused,
    redirectToAuthorization: unused,
    saveCodeVerifier: unused,
    codeVerifier: unused,
    prepareTokenRequest: (wanted) => {
      const chosen = scope ?? wanted
      return new URLSearchParams({ grant_type: 'client_credentials', ...(chosen && { scope: chosen }) })
    },
  }
}
