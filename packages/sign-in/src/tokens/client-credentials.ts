// Authorizes requests as a program instead of a user (OAuth client credentials grant, RFC 6749 section 4.4): no
// browser, and the token stays in memory. The secret is sent to one authorization server only.
import type { FetchLike } from '@modelcontextprotocol/client'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { redactStart } from '@sandbridge/core/config/secrets'
import type { ClientCredentialsOptions, ServerAuth } from '@sandbridge/core/parts'
import { asker } from '../oauth/ask.ts'
import { AuthorizationError, authorizationFailure } from '../oauth/authorization-error.ts'
import { authorizedFetch, type HeldToken, isExpired, type Refusal, type TokenSource } from './authorized-fetch.ts'
import type { BearerChallenge } from './challenge.ts'
import { assertTrusted } from '../oauth/client.ts'
import { discover, endpointOf } from '../oauth/discovery.ts'
import { requestTokens } from '../oauth/token-requests.ts'

/** Stop after this many new tokens in a row that the server refused at once; then only a changed definition helps. */
const MAX_VAIN_TOKENS = 3
const AT_ONCE_MS = 30_000

/**
 * @throws (from requests) BridgeError UPSTREAM_AUTH_REQUIRED, or UPSTREAM_UNREACHABLE when the authorization server
 * fails
 */
export function createClientCredentialsAuth(options: ClientCredentialsOptions): ServerAuth {
  const source = new ProgramTokens(options)
  return { through: (fetch) => authorizedFetch(fetch, options.server.url, source) }
}

class ProgramTokens implements TokenSource {
  readonly #options: ClientCredentialsOptions
  #token: HeldToken | undefined
  #takenAt = -Infinity
  #vainCount = 0
  #asking: Promise<HeldToken> | undefined

  constructor(options: ClientCredentialsOptions) {
    this.#options = options
  }

  current(): Promise<HeldToken | undefined> {
    // An expired one is not sent: the refusal brings a new one.
    return Promise.resolve(isExpired(this.#token) ? undefined : this.#token)
  }

  renewed({ token, challenge, wasAccepted }: Refusal, fetch: FetchLike): Promise<HeldToken> {
    // Requests refused with one token share a new one. A later refusal is about the old.
    if (!this.#asking && this.#token && token !== undefined && token !== this.#token.value)
      return Promise.resolve(this.#token)
    this.#asking ??= this.#ask(challenge, wasAccepted, fetch).finally(() => (this.#asking = undefined))
    return this.#asking
  }

  lacksScope(): Promise<void> {
    return Promise.resolve()
  }

  async #ask(challenge: BearerChallenge | undefined, wasAccepted: boolean, fetch: FetchLike): Promise<HeldToken> {
    const { name, server, credentials, redact, now, limitMs, held } = this.#options
    const isVain = this.#token !== undefined && !wasAccepted && now() - this.#takenAt < AT_ONCE_MS
    this.#vainCount = isVain ? this.#vainCount + 1 : 0
    if (this.#vainCount >= MAX_VAIN_TOKENS) throw refused(name, 'the server does not accept the tokens')
    this.#token = undefined
    const { clientId, clientSecret, issuer: trusted } = credentials
    const ask = asker({ fetch, server, limitMs })
    try {
      const found = await discover({
        serverUrl: server.url,
        named: credentials,
        resourceMetadata: challenge?.resourceMetadata,
        ask,
      })
      const { issuer, elsewhere } = found.server
      assertTrusted({ name, serverUrl: server.url, issuer, elsewhere, hasSecret: true, trusted })
      const scope = credentials.scope ?? challenge?.scope
      const tokens = await requestTokens(
        ask,
        endpointOf(found),
        { client_id: clientId, client_secret: clientSecret },
        { grant_type: 'client_credentials', scope },
      )
      held.add(tokens.access_token)
      this.#takenAt = now()
      return (this.#token = { value: tokens.access_token, expiresAt: tokens.due_at })
    } catch (error) {
      if (BridgeError.isInstance(error)) throw error
      const isOutage = error instanceof AuthorizationError && error.isOutage
      if (isOutage) throw authorizationFailure(name, error, redact, '')
      throw refused(
        name,
        redactStart(redact, messageOf(error), 500),
        error instanceof AuthorizationError ? error.hint : undefined,
      )
    }
  }
}

function refused(name: string, reason: string, hint?: string): BridgeError {
  return new BridgeError(
    'UPSTREAM_AUTH_REQUIRED',
    `The client credentials of server '${name}' do not work: ${reason}`,
    { hint: hint ?? 'Ask the user to correct `oauth` in the definition of the server.' },
  )
}
