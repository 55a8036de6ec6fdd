// What an authorization server says of itself (RFC 8414), as far as a sign-in uses it.
import type { SignInClient } from '@sandbridge/core/config/entries'
import { isLoopback } from '@sandbridge/core/util/net'
import { AuthorizationError } from './authorization-error.ts'
import { type Fields, textIn, textsIn } from './fields.ts'

export interface AuthorizationServer {
  issuer: string
  /** Where its metadata are, if that is another host than its own: anyone can publish some in its name. */
  elsewhere?: string | undefined
  /** Missing where no user can sign in. */
  authorizationEndpoint?: string | undefined
  tokenEndpoint: string
  registrationEndpoint?: string | undefined
  revocationEndpoint?: string | undefined
  /** How clients may authenticate; undefined where it does not say. */
  authMethods?: string[] | undefined
  grantTypes?: string[] | undefined
  scopes?: string[] | undefined
  /** It names itself in every answer (RFC 9207). */
  namesItself: boolean
  /** It publishes no metadata: the endpoints are guessed, and this says what was tried. */
  guessed?: string | undefined
}

/** The endpoints of servers that publish no metadata (MCP 2025-03-26). @param guessed why they are assumed */
export function assumedServer(address: string, guessed?: string): AuthorizationServer {
  const at = (path: string): string => new URL(path, address).href
  return {
    issuer: address,
    authorizationEndpoint: at('/authorize'),
    tokenEndpoint: at('/token'),
    ...(guessed !== undefined && { registrationEndpoint: at('/register'), guessed }),
    namesItself: false,
  }
}

interface Expectation {
  /** Where the metadata was found. */
  place: string
  /** The issuer that it must name; undefined accepts any. */
  expected: string | undefined
  /** The issuer that the user's own entry names, which is trusted at any address. */
  trusted: string | undefined
}

/** @throws AuthorizationError for metadata of another issuer, or without what a sign-in needs */
export function serverIn(fields: Fields, { place, expected, trusted }: Expectation): AuthorizationServer {
  const url = (name: string): string | undefined => {
    const text = typeof fields[name] === 'string' ? textIn(fields, name) : undefined
    return text !== undefined && URL.canParse(text, place) ? withHttps(new URL(text, place).href, place) : undefined
  }
  const tokenEndpoint = url('token_endpoint')
  if (tokenEndpoint === undefined) throw new AuthorizationError('its metadata has no token_endpoint')
  // A document without an issuer is bound to the place where it was found.
  const issuer = textIn(fields, 'issuer') ?? expected ?? new URL(place).origin
  const known = withHttps(issuer, place)
  if (!URL.canParse(known)) throw new AuthorizationError('the issuer of its metadata is not a valid address')
  const isTrusted = sameIssuer(issuer, trusted) || sameIssuer(known, trusted)
  if (!isTrusted && (trusted !== undefined || (expected !== undefined && !sameIssuer(known, expected)))) {
    const line = lineFor('issuer', issuer)
    throw new AuthorizationError(`its metadata is of another issuer, ${issuer}`, {
      ...(line !== undefined && { hint: `If you trust that issuer, write ${line} into the \`oauth\` of the entry.` }),
    })
  }
  if (!isSafe(tokenEndpoint)) throw new AuthorizationError(`its token endpoint ${tokenEndpoint} does not use https`)
  const challenges = textsIn(fields, 'code_challenge_methods_supported')
  if (challenges && !challenges.some((name) => name.toUpperCase() === 'S256'))
    throw new AuthorizationError('it does not support PKCE with S256')
  const responses = textsIn(fields, 'response_types_supported')
  if (responses && !responses.some((type) => type.split(' ').includes('code')))
    throw new AuthorizationError('it does not support the response type code')
  return {
    issuer,
    ...(new URL(known).origin !== new URL(place).origin && { elsewhere: place }),
    authorizationEndpoint: url('authorization_endpoint'),
    tokenEndpoint,
    registrationEndpoint: url('registration_endpoint'),
    revocationEndpoint: url('revocation_endpoint'),
    authMethods: textsIn(fields, 'token_endpoint_auth_methods_supported'),
    grantTypes: textsIn(fields, 'grant_types_supported'),
    scopes: textsIn(fields, 'scopes_supported'),
    namesItself: [true, 'true'].includes(fields['authorization_response_iss_parameter_supported'] as boolean | string),
  }
}

/**
 * A server behind a proxy that ends TLS often takes its own address for one with http.
 * @param reached an address of the same host that was reached with https
 */
export function withHttps(address: string, reached: string): string {
  if (!URL.canParse(address)) return address
  const [url, known] = [new URL(address), new URL(reached)]
  if (url.protocol !== 'http:' || known.protocol !== 'https:' || url.hostname !== known.hostname) return address
  if (url.port !== '' && url.port !== known.port) return address
  url.protocol = 'https:'
  url.port = known.port
  return url.href
}

/** What to write into an entry, where an address that a server names is plainly one. */
export function lineFor(field: keyof SignInClient, address: string): string | undefined {
  return /^https?:\/\/[\w.:[\]{}/~%-]{1,200}$/.test(address) ? `"${field}": "${address}"` : undefined
}

/** A slash at the end, the case of the host and a usual port are no difference. */
export function sameIssuer(one: string, other: string | undefined): boolean {
  const plain = (issuer: string): string => (URL.canParse(issuer) ? new URL(issuer).href : issuer).replace(/\/+$/, '')
  return other !== undefined && plain(one) === plain(other)
}

/**
 * Whether the issuer in a response is this one: exactly (RFC 9207 section 2.4), or for an issuer with a template such
 * as `{tenantid}`, which only the user's own entry can name, with anything in place of it.
 */
export function isIssuer(named: string, issuer: string): boolean {
  if (!/\{\w+\}/.test(issuer)) return named === issuer
  const parts = issuer.replace(/\/+$/, '').split(/\{\w+\}/)
  const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[\\w.-]+')
  return new RegExp(`^${pattern}/?$`).test(named)
}

/** Whether credentials may be sent there. */
export function isSafe(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || (protocol === 'http:' && (isLoopback(hostname) || hostname.endsWith('.localhost')))
}
