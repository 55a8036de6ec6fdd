// Authorizes requests with tokens of an earlier login, refreshed. Starts no login: it may run unattended.
import type { FetchLike } from '@modelcontextprotocol/client'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { latestGrant } from '@sandbridge/core/upstream/auth'
import { grantOf } from './grants.ts'
import { SignInRequired } from '@sandbridge/remote/sign-in-required.ts'
import type { Grant, ServerGrants, SignInEntry } from '@sandbridge/core/upstream/auth'
import type { ServerAuth, StoredAuthOptions } from '@sandbridge/core/parts'
import { redactStart } from '@sandbridge/core/config/secrets'
import { oneLine } from '@sandbridge/core/util/text'
import { type Ask, asker } from '../oauth/ask.ts'
import { AuthorizationError, authorizationFailure } from '../oauth/authorization-error.ts'
import { authorizedFetch, type HeldToken, isExpired, type Refusal, type TokenSource } from './authorized-fetch.ts'
import type { BearerChallenge } from './challenge.ts'
import { sameIssuer } from '../oauth/authorization-server.ts'
import { clientOf } from '../oauth/client.ts'
import { discover, endpointOf } from '../oauth/discovery.ts'
import { scopeUnion } from '../oauth/scopes.ts'
import { requestTokens, type TokenEndpoint, type Tokens } from '../oauth/token-requests.ts'

/** Stop after this many new tokens in a row that the server refused at once; then another login is needed. */
const MAX_VAIN_REFRESHES = 3
/** A token that the server refuses later than this has expired, even if no request has used it before. */
const AT_ONCE_MS = 30_000
/** After a failure of the authorization server, a token that still works is not refreshed for this long. */
const PAUSE_MS = 30_000

/** RFC 6749 section 3.3. */
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E ]+$/
const MAX_WHY_CHARS = 300

const LOCKED = 'it is sealed with another key than that of MCP_BRIDGE_SIGN_IN_KEY or the keychain'
/** Longest scope that an authorization server is likely to accept in a URL. */
const MAX_SCOPE_CHARS = 1000

/**
 * @throws (from requests) SignInRequired when a login is needed, or BridgeError: UPSTREAM_AUTH_REQUIRED, or
 * UPSTREAM_UNREACHABLE when the authorization server fails, which a login would not help
 */
export function createStoredAuth(options: StoredAuthOptions): ServerAuth {
  const source = new StoredTokens(options)
  return { through: (fetch) => authorizedFetch(fetch, options.server.url, source) }
}

/** What is kept, and the token for requests. */
interface Held {
  grant: Grant | undefined
  issuer: string | undefined
  token: HeldToken | undefined
}

export class StoredTokens implements TokenSource {
  readonly #options: StoredAuthOptions
  readonly #entry: SignInEntry
  #refreshedAt = -Infinity
  #pausedUntil = -Infinity
  #vainRefreshes = 0
  #refreshing: Promise<void> | undefined

  constructor(options: StoredAuthOptions) {
    this.#options = options
    this.#entry = { name: options.name, url: options.server.url }
  }

  async current(fetch: FetchLike): Promise<HeldToken | undefined> {
    const { now } = this.#options
    const { grant, token } = await this.#held()
    if (!token || !grant?.tokens?.refresh_token || !isDue(token) || now() < this.#pausedUntil) return token
    try {
      await this.#refresh(fetch, isDue)
      return (await this.#held()).token
    } catch (error) {
      if (!(error instanceof SignInRequired || BridgeError.isInstance(error))) throw error
      // The old token may still work: the server decides.
      this.#pausedUntil = now() + PAUSE_MS
      return token
    }
  }

  async renewed({ token, challenge, wasAccepted, wasServed }: Refusal, fetch: FetchLike): Promise<HeldToken> {
    if (wasAccepted || this.#options.now() - this.#refreshedAt >= AT_ONCE_MS) this.#vainRefreshes = 0
    try {
      await this.#refresh(fetch, ({ value }) => value === token)
    } catch (error) {
      // A login would find nothing to do where listing the tools needs no sign-in.
      if (error instanceof SignInRequired && wasServed) await this.lacksScope(challenge?.scope ?? '', challenge ?? {})
      throw error
    }
    const { token: fresh } = await this.#held()
    if (!fresh) throw new SignInRequired()
    return fresh
  }

  async lacksScope(scope: string, { resourceMetadata }: BearerChallenge): Promise<void> {
    const { store } = this.#options
    const isScope = SCOPE.test(scope) && scope.length <= MAX_SCOPE_CHARS
    const { missingScope, refused } = await store.read(this.#entry)
    const both = isScope ? scopeUnion(missingScope, scope) : missingScope
    const wanted = both !== undefined && both.length > MAX_SCOPE_CHARS ? scope : both
    if (refused && wanted === missingScope) return
    // The error names the scope too, in case the token file cannot be written.
    const change = (grants: ServerGrants): void => {
      grants.refused = { ...(resourceMetadata && { resourceMetadata: resourceMetadata.href }) }
      if (wanted !== undefined) grants.missingScope = wanted
    }
    await store.update(this.#entry, change).catch(() => {})
  }

  async #held(): Promise<Held> {
    const grants = await this.#options.store.read(this.#entry)
    const grant = grants.isLocked ? { ended: LOCKED } : latestGrant(grants)
    return { grant, issuer: grants.latest, token: grant && tokenOf(grant) }
  }

  /**
   * All requests that need a new token share one refresh.
   * @param isNeeded asked again under the lock: another process may have refreshed the token meanwhile
   */
  #refresh(fetch: FetchLike, isNeeded: (token: HeldToken) => boolean): Promise<void> {
    const refresh = async (): Promise<void> => {
      const { grant, issuer, token } = await this.#held()
      if (token && !isNeeded(token)) return
      if (grant?.tokens?.refresh_token === undefined || issuer === undefined) throw new SignInRequired(grant)
      if (this.#vainRefreshes >= MAX_VAIN_REFRESHES)
        throw new SignInRequired({ ended: 'the server refuses every new token' })
      await this.#renew(fetch, grant, issuer, grant.tokens.refresh_token)
    }
    this.#refreshing ??= this.#options.store
      .exclusively(this.#entry, refresh)
      .finally(() => (this.#refreshing = undefined))
    return this.#refreshing
  }

  async #renew(fetch: FetchLike, grant: Grant, issuer: string, refreshToken: string): Promise<void> {
    const { name, server, redact, limitMs, now, store } = this.#options
    // Only the client that received the token can refresh it; registering a new one would be useless.
    const client = clientOf({ name, server, issuer, grant })
    if (!client) throw new SignInRequired(grant)
    const ask = asker({ fetch, server, limitMs })
    const refreshAt = async (endpoint: TokenEndpoint): Promise<void> => {
      const tokens = await requestTokens(ask, endpoint, client, {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        // Some authorization servers issue a token for another resource where a refresh names no scope.
        scope: server.signIn?.scope,
      })
      this.#vainRefreshes += 1
      this.#refreshedAt = now()
      await store.update(this.#entry, (grants) => keepTokens(grantOf(grants, issuer), tokens, endpoint))
    }
    try {
      const known = grant.endpoint ?? (await this.#endpointNow(ask, issuer))
      try {
        await refreshAt(known)
      } catch (error) {
        // What it says about the token or the client is final, and an outage is waited for; an endpoint may have moved.
        if (!(error instanceof AuthorizationError) || error.said || error.isOutage) throw error
        const moved = await this.#endpointNow(ask, issuer).catch(() => known)
        if (moved.url === known.url) throw error
        await refreshAt(moved)
      }
    } catch (error) {
      if (error instanceof AuthorizationError && error.isUnclear)
        throw new SignInRequired({ ended: this.#why(error), isKept: true })
      if (error instanceof AuthorizationError && !error.isOutage) await this.#end(issuer, error)
      throw authorizationFailure(name, error, redact, '')
    }
  }

  /** The sign-in is over: the next login begins with a page. @throws SignInRequired */
  async #end(issuer: string, error: AuthorizationError): Promise<never> {
    const ended = this.#why(error)
    const change = (grants: ServerGrants): void => {
      const grant = grantOf(grants, issuer)
      grant.ended = ended
      // An access token may still be valid for the moment.
      if (tokenOf(grant)?.expiresAt === undefined || isExpired(tokenOf(grant))) delete grant.tokens
      else delete grant.tokens?.refresh_token
      if (error.isUnknownClient) delete grant.client
    }
    // The file may not be writable. The error says what to do in any case.
    await this.#options.store.update(this.#entry, change).catch(() => {})
    throw new SignInRequired({ ended })
  }

  #why({ message }: AuthorizationError): string {
    return oneLine(redactStart(this.#options.redact, message, MAX_WHY_CHARS), MAX_WHY_CHARS)
  }

  /** For sign-ins that were kept without their endpoint. */
  async #endpointNow(ask: Ask, issuer: string): Promise<TokenEndpoint> {
    const { server } = this.#options
    try {
      const found = await discover({ serverUrl: server.url, named: server.signIn ?? {}, ask })
      // The old place of its tokens is safer than metadata that anyone may have published.
      if (sameIssuer(found.server.issuer, issuer) && found.server.elsewhere === undefined) return endpointOf(found)
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error
      // Whatever is wrong with the metadata says nothing about the token.
      throw new AuthorizationError(error.message, { isOutage: true })
    }
    throw new AuthorizationError('the server has another authorization server now', {
      said: { code: 'moved', description: undefined },
    })
  }
}

/** Keeps what was issued. What is not issued anew stays as it was: RFC 6749 sections 5.1 and 6. */
export function keepTokens(grant: Grant, { account, ...tokens }: Tokens, endpoint: TokenEndpoint): void {
  const { refresh_token: refresh, scope } = grant.tokens ?? {}
  grant.tokens = {
    ...(refresh !== undefined && { refresh_token: refresh }),
    ...(scope !== undefined && { scope }),
    ...tokens,
  }
  grant.endpoint = endpoint
  if (account !== undefined) grant.account = account
  delete grant.ended
}

function tokenOf({ tokens }: Grant): HeldToken | undefined {
  return tokens && { value: tokens.access_token, expiresAt: tokens.expires_at, dueAt: tokens.due_at }
}

/** Whether a token expires soon. */
function isDue({ dueAt }: HeldToken): boolean {
  return dueAt !== undefined && dueAt <= Date.now()
}
