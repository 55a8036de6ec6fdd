// Authorizes requests with tokens from an earlier login, and refreshes them. It never starts a login: the bridge runs where nobody may be looking.
import type { AuthProvider } from '@modelcontextprotocol/client'
import { OAuthProvider } from './oauth-provider.ts'
import { loadSdk } from '../sdk.ts'
import type { TokenStore } from './token-store.ts'

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0]

/** Refreshes in a row that the server did not honour, after which only another login helps. */
const MAX_VAIN_REFRESHES = 3

/** @throws (from `onUnauthorized`) UnauthorizedError of the MCP client package when a login is needed */
export function createStoredAuth(store: TokenStore, serverUrl: string): AuthProvider {
  let lastToken: string | undefined
  let vainRefreshes = 0
  let refreshing: Promise<void> | undefined

  const token = async (): Promise<string | undefined> => {
    const { byIssuer, latest } = await store.read(serverUrl)
    const stored = latest === undefined ? undefined : byIssuer[latest]?.tokens?.access_token
    lastToken = stored
    return stored
  }

  const refresh = async (refused: string | undefined, context: UnauthorizedContext): Promise<void> => {
    const sdk = await loadSdk()
    const { byIssuer, latest } = await store.read(serverUrl)
    const grant = latest === undefined ? undefined : byIssuer[latest]
    // Another process has refreshed it, or logged in, meanwhile.
    if (grant?.tokens && grant.tokens.access_token !== refused) {
      vainRefreshes = 0
      return
    }
    if (!grant?.tokens?.refresh_token || vainRefreshes >= MAX_VAIN_REFRESHES) throw new sdk.UnauthorizedError()
    vainRefreshes += 1
    const redirect = (): never => {
      throw new sdk.UnauthorizedError()
    }
    const provider = new OAuthProvider({ store, serverUrl, port: grant.port ?? 0, redirect })
    const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(context.response)
    const outcome = await sdk.auth(provider, {
      serverUrl: context.serverUrl,
      fetchFn: context.fetchFn,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    })
    if (outcome !== 'AUTHORIZED') throw new sdk.UnauthorizedError()
  }

  return {
    token,
    onUnauthorized: (context) => {
      // All requests that were refused with one token share one refresh.
      const refused = lastToken
      refreshing ??= store
        .exclusively(serverUrl, () => refresh(refused, context))
        .finally(() => (refreshing = undefined))
      return refreshing
    },
  }
}
