// Requests to the token endpoint (RFC 6749) and to the one that revokes (RFC 7009).
import type { Ask } from './ask.ts'
import { AuthorizationError, refusalOf } from './authorization-error.ts'
import { isSafe } from './authorization-server.ts'
import { type Answer, errorIn, fieldsIn, numberIn, textIn } from './fields.ts'

/** A client of an authorization server, as far as requests need it. */
export interface OAuthClient {
  client_id: string
  client_secret?: string
  /** How it is registered to authenticate. */
  token_endpoint_auth_method?: string
}

/** Where tokens come from; kept with them, so that a refresh needs nothing else. */
export interface TokenEndpoint {
  url: string
  /** How clients may authenticate there; missing where the authorization server does not say. */
  authMethods?: string[]
  /** The resource that the tokens are for. */
  resource?: string
  revocationUrl?: string
}

/** What the token endpoint issued. */
export interface Tokens {
  access_token: string
  refresh_token?: string
  scope?: string
  /** When the access token expires, in milliseconds since 1970, where that is known. */
  expires_at?: number
  /** When it should be renewed, a little before that. */
  due_at?: number
  /** Who has signed in, where a token says it: for people, not verified. */
  account?: string
}

type Authenticate = (form: URLSearchParams, headers: Headers) => void

/** @throws AuthorizationError */
export async function requestTokens(
  ask: Ask,
  endpoint: TokenEndpoint,
  client: OAuthClient,
  grant: Record<string, string | undefined>,
): Promise<Tokens> {
  const { resource, url } = endpoint
  const answer = await post(ask, url, endpoint, client, { ...grant, resource })
  const { fields } = answer
  const access = fields && textIn(fields, 'access_token')
  if (!fields || access === undefined || answer.status >= 300 || errorIn(fields))
    throw refusalOf(answer, 'the token request')
  if (!/^[\x21-\x7e]+$/.test(access)) {
    throw new AuthorizationError('its authorization server sent an access token that no request can carry')
  }
  const [refresh, scope, seconds] = [
    textIn(fields, 'refresh_token'),
    textIn(fields, 'scope'),
    numberIn(fields, 'expires_in'),
  ]
  const account = accountIn(textIn(fields, 'id_token'), access)
  return {
    access_token: access,
    ...(refresh !== undefined && { refresh_token: refresh }),
    ...(scope !== undefined && { scope }),
    ...(seconds !== undefined && seconds > 0 && timesOf(seconds * 1000)),
    ...(account !== undefined && { account }),
  }
}

/** A token is renewed this long before it expires, or sooner where it lives briefly. */
const MARGIN_MS = 60_000
const MARGIN_PART = 0.1

function timesOf(lifeMs: number): Pick<Tokens, 'expires_at' | 'due_at'> {
  const end = Date.now() + lifeMs
  return { expires_at: end, due_at: end - Math.min(MARGIN_MS, lifeMs * MARGIN_PART) }
}

/** Best effort. @returns whether the authorization server said that the token is revoked */
export async function revoke(
  ask: Ask,
  endpoint: TokenEndpoint,
  client: OAuthClient,
  token: { value: string; hint: 'access_token' | 'refresh_token' },
): Promise<boolean> {
  const { revocationUrl } = endpoint
  if (revocationUrl === undefined) return false
  const answer = await post(ask, revocationUrl, endpoint, client, { token: token.value, token_type_hint: token.hint })
  return answer.status < 300 && !(answer.fields && errorIn(answer.fields))
}

/** Tries the ways to authenticate in turn while the client is refused. */
async function post(
  ask: Ask,
  url: string,
  { authMethods }: TokenEndpoint,
  client: OAuthClient,
  grant: Record<string, string | undefined>,
): Promise<Answer> {
  if (!isSafe(url)) throw new AuthorizationError(`${url} does not use https`)
  let last: Answer | undefined
  for (const authenticate of waysOf(client, authMethods)) {
    const form = new URLSearchParams()
    for (const [name, value] of Object.entries(grant)) if (value !== undefined) form.set(name, value)
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' })
    authenticate(form, headers)
    last = await ask(url, { method: 'POST', headers, body: form.toString() })
    const isRefused = last.status === 401 || (last.fields && errorIn(last.fields)?.code === 'invalid_client')
    if (!isRefused) return last
  }
  return last!
}

/**
 * RFC 6749 section 2.3.1: in Basic authentication both are form-encoded. Some authorization servers compare them as
 * they are, and some that do not say what they support take a secret in the form only.
 */
function waysOf(client: OAuthClient, supported: readonly string[] | undefined): Authenticate[] {
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: own } = client
  const named: Authenticate = (form) => form.set('client_id', id)
  if (secret === undefined) return [named]
  const inForm: Authenticate = (form) => {
    named(form, new Headers())
    form.set('client_secret', secret)
  }
  const inHeader = (user: string, password: string): Authenticate => {
    const basic = Buffer.from(`${user}:${password}`).toString('base64')
    return (_form, headers) => headers.set('authorization', `Basic ${basic}`)
  }
  const encoded = [formEncoded(id), formEncoded(secret)] as const
  const basic = [inHeader(...encoded), ...(encoded[0] === id && encoded[1] === secret ? [] : [inHeader(id, secret)])]
  const allows = (method: string): boolean => supported === undefined || supported.includes(method)
  if (own === 'none' && allows('none')) return [named]
  if (own === 'client_secret_post' && allows(own)) return [inForm]
  if (own === 'client_secret_basic' && allows(own)) return basic
  if (supported === undefined) return [...basic, inForm]
  if (allows('client_secret_basic')) return basic
  return allows('client_secret_post') || !allows('none') ? [inForm] : [named]
}

function formEncoded(text: string): string {
  return new URLSearchParams({ a: text }).toString().slice(2)
}

const MAX_ACCOUNT_CHARS = 100

/** The name in an ID token, or in an access token that is a JWT. */
function accountIn(...tokens: (string | undefined)[]): string | undefined {
  for (const token of tokens) {
    const claims = claimsOf(token)
    const name = ['email', 'preferred_username', 'name', 'sub'].map((claim) => textIn(claims, claim)).find(Boolean)
    if (name !== undefined) return name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').slice(0, MAX_ACCOUNT_CHARS) || undefined
  }
  return undefined
}

function claimsOf(token: string | undefined): Record<string, unknown> {
  const [, payload, signature] = token?.split('.') ?? []
  if (payload === undefined || signature === undefined) return {}
  return fieldsIn(Buffer.from(payload, 'base64url').toString()) ?? {}
}
