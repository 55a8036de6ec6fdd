// Authorizes requests with tokens from an earlier login, and refreshes them. It never starts a login: the bridge runs where nobody may be looking.
import type { AuthProvider } from '@modelcontextprotocol/client'
import type { RemoteServer } from '../../config/server-definition.ts'
import { OAuthProvider } from './oauth-provider.ts'
import type { Redactor } from '../redact.ts'
import { loadSdk } from '../sdk.ts'
import type { TokenStore } from './token-store.ts'
import { withoutSecrets } from './without-secrets.ts'

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0]

/** Refreshes in a row that the server did not honour, after which only another login helps. */
const MAX_VAIN_REFRESHES = 3

export interface StoredAuthOptions {
  name: string
  /** With its placeholders filled in. */
  server: RemoteServer
  store: TokenStore
  redact: Redactor
}

/** @throws (from `onUnauthorized`) UnauthorizedError of the MCP client package when a login is needed, or BridgeError UPSTREAM_AUTH_REQUIRED */
export function createStoredAuth({ name, server, store, redact }: StoredAuthOptions): AuthProvider {
  const { url: serverUrl, signIn: client } = server
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
    // A refresh is by the client that the token was given to: a new one would be registered for nothing.
    if (client?.clientId === undefined && !grant.client) throw new sdk.UnauthorizedError()
    vainRefreshes += 1
    const redirect = (): never => {
      throw new sdk.UnauthorizedError()
    }
    const port = grant.port ?? 0
    // It is not used in a refresh.
    const callback = { url: `http://127.0.0.1:${port}/callback`, port }
    const provider = new OAuthProvider({ name, store, serverUrl, callback, client, redirect })
    const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(context.response)
    const outcome = await sdk.auth(provider, {
      serverUrl: context.serverUrl,
      fetchFn: withoutSecrets(context.fetchFn, redact),
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
