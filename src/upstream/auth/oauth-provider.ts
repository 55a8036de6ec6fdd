// Keeps the OAuth credentials of one remote server where the MCP client package wants to find them. It asks nobody anything: `redirect` does,
// and a bridge that runs without a user has none.
import { randomBytes } from 'node:crypto'
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { Grant, TokenStore } from './token-store.ts'

export interface OAuthProviderOptions {
  store: TokenStore
  serverUrl: string
  /** The loopback port at which the answer of the authorization server is awaited. */
  port: number
  /** A client that was registered by hand. Missing means that we register ourselves. */
  client?: OAuthClient
  /** Where a document that describes us is published, for authorization servers that take it instead of a registration. */
  clientMetadataUrl?: string
  /** Shows the user a page. @throws when there is no user */
  redirect: (url: URL) => void | Promise<void>
}

export interface OAuthClient {
  clientId: string
  clientSecret?: string
  /** The authorization server it was registered with: its secret is sent to no other one. */
  issuer?: string
}

export class OAuthProvider implements OAuthClientProvider {
  readonly clientMetadataUrl?: string
  /** What the authorization server must send back with its answer, RFC 6749 section 10.12. */
  readonly expectedState = randomBytes(24).toString('base64url')
  readonly #options: OAuthProviderOptions
  #codeVerifier = ''
  #discovery: OAuthDiscoveryState | undefined

  constructor(options: OAuthProviderOptions) {
    this.#options = options
    if (options.clientMetadataUrl !== undefined) this.clientMetadataUrl = options.clientMetadataUrl
  }

  /** An address, not a name, so that no resolver can lead it elsewhere, RFC 8252 section 8.3. */
  get redirectUrl(): string {
    return `http://127.0.0.1:${this.#options.port}/callback`
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Sandbridge',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    }
  }

  state(): string {
    return this.expectedState
  }

  async clientInformation(context?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { client } = this.#options
    if (client) {
      return {
        client_id: client.clientId,
        ...(client.issuer !== undefined && { issuer: client.issuer }),
        ...(client.clientSecret !== undefined && { client_secret: client.clientSecret }),
      }
    }
    const grant = await this.#grant(context?.issuer)
    // A client is registered with its redirect address, port included.
    return grant.port === this.#options.port ? grant.client : undefined
  }

  saveClientInformation(client: StoredOAuthClientInformation, context?: OAuthClientInformationContext): Promise<void> {
    return this.#change(context?.issuer ?? client.issuer, (grant) => {
      grant.client = client
      grant.port = this.#options.port
    })
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    return (await this.#grant(context?.issuer)).tokens
  }

  saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): Promise<void> {
    return this.#change(context?.issuer ?? tokens.issuer, (grant) => (grant.tokens = tokens), true)
  }

  /** @throws Error for a page that could be anything but a web page: its address comes from the server, and a browser opens programs, too. */
  async redirectToAuthorization(url: URL): Promise<void> {
    const isLocal = url.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
    if (url.protocol !== 'https:' && !isLocal) throw new Error('the page to log in at is not reached over https')
    await this.#options.redirect(url)
  }

  saveCodeVerifier(codeVerifier: string): void {
    this.#codeVerifier = codeVerifier
  }

  codeVerifier(): string {
    return this.#codeVerifier
  }

  /** Kept for the time of one login only: the code that comes back must be redeemed where it was asked for. */
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (scope === 'verifier' || scope === 'all') this.#codeVerifier = ''
    if (scope === 'discovery' || scope === 'all') this.#discovery = undefined
    if (scope === 'verifier' || scope === 'discovery') return
    await this.#options.store.update(this.#options.serverUrl, (grants) => {
      for (const grant of Object.values(grants.byIssuer)) {
        if (scope !== 'tokens') delete grant.client
        if (scope !== 'client') delete grant.tokens
      }
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
