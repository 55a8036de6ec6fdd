// Authorizes requests with tokens from an earlier login, and refreshes them. It never starts a login, since the bridge
// may run unattended.
import type { AuthProvider } from '@modelcontextprotocol/client'
import { authorizationFetch, authorizationServerFailed } from './authorization-fetch.ts'
import { OAuthProvider, redirectAddresses, scopeUnion } from './oauth-provider.ts'
import { SentTokens } from './sent-tokens.ts'
import { loadSdk } from '@sandbridge/core/upstream/connection/sdk.ts'
import type { ServerAuth, StoredAuthOptions } from '@sandbridge/core/upstream/oauth-part.ts'

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0]

/** Stop after this many new tokens in a row that the server refused at once; then another login is needed. */
const MAX_VAIN_REFRESHES = 3
/** A token that the server refuses later than this has expired, even if no request has used it before. */
const AT_ONCE_MS = 30_000

/** RFC 6749 section 3.3. */
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E ]+$/
/** Longest scope that an authorization server is likely to accept in a URL. */
const MAX_SCOPE_CHARS = 1000

/**
 * @throws (from `onUnauthorized`) UnauthorizedError of the MCP client package when a login is needed, or BridgeError:
 * UPSTREAM_AUTH_REQUIRED, or UPSTREAM_UNREACHABLE when the authorization server fails, which a login would not help
 */
export function createStoredAuth({ name, server, store, redact, now, limitMs }: StoredAuthOptions): ServerAuth {
  const { url: serverUrl, signIn: client } = server
  const sent = new SentTokens()
  let refreshedAt = -Infinity
  let vainRefreshes = 0
  let refreshing: Promise<void> | undefined

  const token = async (): Promise<string | undefined> => {
    const { byIssuer, latest } = await store.read(serverUrl)
    return latest === undefined ? undefined : byIssuer[latest]?.tokens?.access_token
  }

  const refresh = async (refused: string | undefined, context: UnauthorizedContext): Promise<void> => {
    const sdk = await loadSdk()
    const { byIssuer, latest } = await store.read(serverUrl)
    const grant = latest === undefined ? undefined : byIssuer[latest]
    // The token was refreshed, or the user logged in, while the request was under way.
    if (grant?.tokens && grant.tokens.access_token !== refused) return
    if (sent.wasAccepted(refused) || now() - refreshedAt >= AT_ONCE_MS) vainRefreshes = 0
    if (!grant?.tokens?.refresh_token || vainRefreshes >= MAX_VAIN_REFRESHES) throw new sdk.UnauthorizedError()
    // Only the client that received the token can refresh it; registering a new one would be useless.
    if (client?.clientId === undefined && !grant.client) throw new sdk.UnauthorizedError()
    vainRefreshes += 1
    const redirect = (): never => {
      throw new sdk.UnauthorizedError()
    }
    const port = grant.port ?? 0
    // A refresh does not use it, but takes the client that is registered with it.
    const [url = `http://127.0.0.1:${port}/callback`] = redirectAddresses(grant.client) ?? []
    const callback = { url, port }
    const provider = new OAuthProvider({
      name,
      store,
      serverUrl,
      callback,
      client,
      redirect,
    })
    const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(context.response)
    const authorization = authorizationFetch(context.fetchFn, redact, limitMs)
    try {
      const outcome = await sdk.auth(provider, {
        serverUrl: context.serverUrl,
        fetchFn: authorization.fetch,
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        ...(scope !== undefined && { scope }),
      })
      if (outcome !== 'AUTHORIZED') throw new sdk.UnauthorizedError()
      refreshedAt = now()
    } catch (error) {
      const trouble = authorization.trouble()
      if (trouble === undefined) throw error
      // The MCP server was not asked, so this attempt does not count.
      vainRefreshes -= 1
      throw authorizationServerFailed(name, trouble)
    }
  }

  const remember = async (scope: string): Promise<void> => {
    if (!SCOPE.test(scope) || scope.length > MAX_SCOPE_CHARS) return
    const { missingScope } = await store.read(serverUrl)
    const both = scopeUnion(missingScope, scope)
    const wanted = both.length > MAX_SCOPE_CHARS ? scope : both
    if (wanted !== missingScope) await store.update(serverUrl, (grants) => (grants.missingScope = wanted))
  }

  return {
    // The error names the scope too, in case the token file cannot be written.
    onMissingScope: (scope) => remember(scope).catch(() => {}),
    token,
    onResponse: (authorization, response) => sent.note(authorization, response),
    onUnauthorized: (context) => {
      // All requests that were refused with one token share one refresh.
      const refused = sent.refusedBy(context.response)
      refreshing ??= store
        .exclusively(serverUrl, () => refresh(refused, context))
        .finally(() => (refreshing = undefined))
      return refreshing
    },
  }
}
