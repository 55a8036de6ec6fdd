// Stores the OAuth credentials of one remote server where the MCP client package expects them. It never asks the user:
// `redirect` does, and throws in a bridge that runs without a user.
import { randomBytes } from 'node:crypto'
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { SignInClient } from '@sandbridge/core/config/entries/server-definition.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Grant, TokenStore } from '@sandbridge/core/upstream/auth/token-store.ts'
import { isLoopback } from '@sandbridge/core/util/net/loopback.ts'

export interface OAuthProviderOptions {
  name: string
  store: TokenStore
  serverUrl: string
  /** Where to wait for the authorization server's response. */
  callback: { url: string; port: number }
  /** A client that was registered manually. Without a client id, the bridge registers itself. */
  client?: SignInClient | undefined
  /** The scope to request instead of the server's suggestion. */
  scope?: string | undefined
  /** Shows the user a page. @throws when no user is present */
  redirect: (url: URL) => void | Promise<void>
}

export class OAuthProvider implements OAuthClientProvider {
  /** The state that the authorization server must return, RFC 6749 section 10.12. */
  readonly expectedState = randomBytes(24).toString('base64url')
  readonly #options: OAuthProviderOptions
  #codeVerifier = ''
  #requestedScope: string | undefined
  #discovery: OAuthDiscoveryState | undefined
  /**
   * A client that this sign-in has registered. It is stored with its tokens only: another sign-in may be under way, and
   * this one may be given up.
   */
  #registered: { client: StoredOAuthClientInformation; issuer: string | undefined } | undefined

  constructor(options: OAuthProviderOptions) {
    this.#options = options
  }

  /** An IP address instead of a name, so that no resolver can redirect it, RFC 8252 section 8.3. */
  get redirectUrl(): string {
    return this.#options.callback.url
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Sandbridge',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      // OpenID Connect Dynamic Client Registration 1.0, section 2: a native client may redirect only to its own
      // machine.
      application_type: this.redirectUrl.startsWith('http:') ? 'native' : 'web',
    }
  }

  state(): string {
    return this.expectedState
  }

  async clientInformation(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { client, callback } = this.#options
    if (client?.clientId !== undefined) return registeredClient(this.#options, client, context?.issuer)
    if (this.#registered && (context?.issuer ?? this.#registered.issuer) === this.#registered.issuer)
      return this.#registered.client
    const grant = await this.#grant(context?.issuer)
    // A client is registered with its redirect address, including the port.
    const isForHere = redirectAddresses(grant.client)?.includes(callback.url) ?? grant.port === callback.port
    return isForHere ? grant.client : undefined
  }

  saveClientInformation(client: StoredOAuthClientInformation, context?: OAuthClientInformationContext): void {
    // Client data in a definition is read from there; its secret is not stored a second time.
    if (this.#options.client?.clientId !== undefined) return
    this.#registered = { client, issuer: context?.issuer ?? client.issuer }
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    return (await this.#grant(context?.issuer)).tokens
  }

  /** @throws Error for a token that no request can carry, RFC 6750 section 2.1 */
  async saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): Promise<void> {
    const { callback } = this.#options
    if (!/^[\x21-\x7e]+$/.test(tokens.access_token)) {
      throw new Error('its authorization server sent an access token that no request can carry')
    }
    await this.#change(
      context?.issuer ?? tokens.issuer,
      (grant) => {
        // A missing scope means the requested one, RFC 6749 section 5.1, or on a refresh the previous one.
        const scope = tokens.scope ?? this.#requestedScope ?? grant.tokens?.scope
        grant.tokens = { ...tokens, ...(scope !== undefined && { scope }) }
        if (this.#registered) Object.assign(grant, { client: this.#registered.client, port: callback.port })
        grant.port ??= callback.port
      },
      true,
    )
  }

  /**
   * @throws Error for anything but a web page: the address comes from the server, and a browser can also open programs.
   */
  async redirectToAuthorization(url: URL): Promise<void> {
    const isLocal = url.protocol === 'http:' && isLoopback(url.hostname)
    if (url.protocol !== 'https:' && !isLocal) throw new Error('the login page does not use https')
    const { scope } = this.#options
    if (scope !== undefined) {
      // The package requests `offline_access` in addition where it is offered: without it, refreshing may be
      // impossible.
      const offline = url.searchParams.get('scope')?.split(' ').includes('offline_access')
        ? 'offline_access'
        : undefined
      url.searchParams.set('scope', scopeUnion(scope, offline))
    }
    this.#requestedScope = url.searchParams.get('scope') ?? undefined
    await this.#options.redirect(url)
  }

  saveCodeVerifier(codeVerifier: string): void {
    this.#codeVerifier = codeVerifier
  }

  codeVerifier(): string {
    return this.#codeVerifier
  }

  /** Kept during one login only: the returned code must be redeemed at the server that issued it. */
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (scope === 'verifier' || scope === 'all') this.#codeVerifier = ''
    if (scope === 'discovery' || scope === 'all') this.#discovery = undefined
    if (scope === 'client' || scope === 'all') this.#registered = undefined
    if (scope === 'verifier' || scope === 'discovery') return
    await this.#options.store.update(this.#options.serverUrl, (grants) => {
      for (const grant of Object.values(grants.byIssuer)) {
        if (scope !== 'tokens') delete grant.client
        if (scope !== 'client') delete grant.tokens
      }
    })
  }

  /**
   * After a sign-in without an answer: the authorization server may no longer know the client, and have told so to the
   * user only. A client with a refresh token stays, as the server knew it then.
   */
  async forgetClient(): Promise<void> {
    await this.#options.store.update(this.#options.serverUrl, ({ byIssuer }) => {
      for (const grant of Object.values(byIssuer)) if (!grant.tokens?.refresh_token) delete grant.client
    })
  }

  async #grant(issuer: string | undefined): Promise<Grant> {
    const { byIssuer, latest } = await this.#options.store.read(this.#options.serverUrl)
    const key = issuer ?? latest
    return key !== undefined && Object.hasOwn(byIssuer, key) ? byIssuer[key]! : {}
  }

  #change(issuer: string | undefined, change: (grant: Grant) => void, isLatest = false): Promise<void> {
    const key = issuer ?? ''
    return this.#options.store.update(this.#options.serverUrl, (grants) => {
      const grant = Object.hasOwn(grants.byIssuer, key) ? grants.byIssuer[key]! : {}
      change(grant)
      Object.defineProperty(grants.byIssuer, key, {
        value: grant,
        enumerable: true,
        configurable: true,
        writable: true,
      })
      if (isLatest) grants.latest = key
    })
  }
}

/**
 * @throws BridgeError UPSTREAM_AUTH_REQUIRED when the MCP server names another authorization server, which could be its
 * own, to obtain the secret
 */
function registeredClient(
  { name, serverUrl }: OAuthProviderOptions,
  { clientId = '', clientSecret, issuer }: SignInClient,
  named: string | undefined,
): StoredOAuthClientInformation {
  const isOther =
    named !== undefined &&
    (issuer === undefined
      ? clientSecret !== undefined && new URL(named).origin !== new URL(serverUrl).origin
      : named.replace(/\/$/, '') !== issuer.replace(/\/$/, ''))
  if (isOther) {
    throw new BridgeError(
      'UPSTREAM_AUTH_REQUIRED',
      `Server '${name}' requires sign-in at another address, ${new URL(named).origin}`,
      {
        hint: `If that is where the client is registered, ask the user to write "issuer": "${named}" into its \`oauth\`.`,
      },
    )
  }
  const bound = named ?? issuer
  return {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(bound !== undefined && { issuer: bound }),
  }
}

/** What a client was registered with, where the authorization server said so. */
export function redirectAddresses(client: StoredOAuthClientInformation | undefined): string[] | undefined {
  const { redirect_uris: addresses } = (client ?? {}) as { redirect_uris?: unknown }
  return Array.isArray(addresses) && addresses.length > 0 ? addresses.map(String) : undefined
}

/** Each scope once, in the order given. */
export function scopeUnion(...scopes: (string | undefined)[]): string {
  return [...new Set(scopes.flatMap((scope) => scope?.split(/\s+/).filter(Boolean) ?? []))].join(' ')
}
