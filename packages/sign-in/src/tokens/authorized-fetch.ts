// `fetch` with the token of its source, and again with a new one where only the token was refused.
import type { FetchLike } from '@modelcontextprotocol/client'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { SignInRequired } from '@sandbridge/remote/sign-in-required.ts'
import { type BearerChallenge, bearerChallenge } from './challenge.ts'

export interface HeldToken {
  value: string
  /** When it expires, and when it should be renewed; in milliseconds since 1970, where that is known. */
  expiresAt?: number | undefined
  dueAt?: number | undefined
}

/** A refusal of a request. */
export interface Refusal {
  /** The token that was refused; undefined for a request without one. */
  token: string | undefined
  challenge: BearerChallenge | undefined
  wasAccepted: boolean
  /** Whether the server has answered other requests: it needs a sign-in for some only. */
  wasServed: boolean
}

/** Where the tokens for one server come from. `fetch` is for requests to its authorization server. */
export interface TokenSource {
  /** The token for the next request, which is renewed before it expires. Undefined without a sign-in. */
  current(fetch: FetchLike): Promise<HeldToken | undefined>
  /**
   * A new token after a refusal. A refusal that comes late may be about an old one.
   * @throws SignInRequired where only the user can help; BridgeError
   */
  renewed(refusal: Refusal, fetch: FetchLike): Promise<HeldToken>
  /** The server wants further permissions. Never rejects. */
  lacksScope(scope: string, challenge: BearerChallenge): Promise<void>
}

/** @param serverUrl only requests to its origin are authorized */
export function authorizedFetch(fetch: FetchLike, serverUrl: string, source: TokenSource): FetchLike {
  const { origin } = new URL(serverUrl)
  let accepted: string | undefined
  let wasServed = false

  const send = async (url: string | URL, init: RequestInit | undefined, token: HeldToken | undefined) => {
    const headers = new Headers(init?.headers)
    if (token) headers.set('authorization', `Bearer ${token.value}`)
    const response = await fetch(url, { ...init, headers })
    if (response.ok) [accepted, wasServed] = [token?.value, true]
    return response
  }

  return async (url, init) => {
    if (new URL(url).origin !== origin) return fetch(url, init)
    const token = await source.current(fetch)
    const response = await send(url, init, token)
    const challenge = response.ok ? undefined : bearerChallenge(response, serverUrl)
    const wantsScope = challenge?.error === 'insufficient_scope' && [401, 403].includes(response.status)
    if (challenge && wantsScope && (token || challenge.scope)) {
      await response.body?.cancel()
      const scope = challenge.scope ?? ''
      await source.lacksScope(scope, challenge)
      throw new SignInRequired({ requiredScope: scope })
    }
    const isRefused = isAboutToken(response, challenge) || wantsScope
    if (!isRefused && !(isExpired(token) && mayRepeat(response, init))) return response
    await response.body?.cancel()
    const wasAccepted = token !== undefined && token.value === accepted
    const fresh = await source.renewed({ token: token?.value, challenge, wasAccepted, wasServed }, fetch)
    const again = await send(url, init, fresh)
    if (!isAboutToken(again, bearerChallenge(again, serverUrl)) || again.status === 403) return again
    await again.body?.cancel()
    throw new SignInRequired({ ended: 'the server refuses a new token, too' })
  }
}

/** 401, or another refusal with a challenge for a token, as some servers and gateways answer. */
function isAboutToken({ status }: Response, challenge: BearerChallenge | undefined): boolean {
  if (status === 401) return true
  return (status === 400 || status === 403) && challenge !== undefined && challenge.error !== 'invalid_request'
}

/** As far as is known. */
export function isExpired(token: HeldToken | undefined): boolean {
  return token?.expiresAt !== undefined && token.expiresAt <= Date.now()
}

/** Whether a request failed without effect, or has none: some servers answer an expired token with any failure. */
function mayRepeat({ ok, status }: Response, init: RequestInit | undefined): boolean {
  if (ok || status === 429) return false
  if (status < 500) return true
  const message: unknown = typeof init?.body === 'string' ? parseJson(init.body) : undefined
  return isRecord(message) && message['method'] !== 'tools/call'
}
