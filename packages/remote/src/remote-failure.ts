// Explains to the user why a remote server could not be used. Never quotes a URL or a header. The body of the response
// is kept beside the words: it must be redacted before it is shown.
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { bodyOf, causesOf, RpcRefusal, statusOf } from '@sandbridge/core/upstream/failures'
import { ADDRESS_REFUSED } from './address-guard.ts'
import { BodyRefusedError } from './bounded-body.ts'

/** A response, from the server or something in front of it, that no MCP client can use. */
export class RemoteFailure extends Error {
  readonly data: { status: number; text: string }
  /** How long the server asks clients to wait, if it does. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, text: string, message: string, retryAfterMs?: number) {
    super(message)
    this.data = { status, text }
    this.retryAfterMs = retryAfterMs
  }
}

/** Undefined for a response that the MCP client package should handle. @param text its body */
export function failureOf({ status, headers }: Response, text: string, now = Date.now()): RemoteFailure | undefined {
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'), now)
  const wait = retryAfterMs === undefined ? '' : ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`
  if (status === 429)
    return new RemoteFailure(status, text, `it received too many requests from us (HTTP 429)${wait}`, retryAfterMs)
  if (status >= 500) return new RemoteFailure(status, text, `it failed with HTTP ${status}${wait}`, retryAfterMs)
  return undefined
}

/** Undefined for another response than a page. */
export function webPageFailure({ status, headers }: Response, text: string): RemoteFailure | undefined {
  if (!headers.get('content-type')?.includes('text/html')) return undefined
  const why = 'it answered with a web page: the address may be wrong, or a login page may intercept it'
  return new RemoteFailure(status, text, why)
}

/** What a response with a status of failure means for the request with this id. */
export function refusalOf(response: Response, text: string, id: string | number | undefined): Error {
  const { status } = response
  const reply = UNREACHED.has(status) ? undefined : errorIn(text)
  if (reply) return new RpcRefusal(status, reply.error, reply.id === id || reply.id === String(id))
  return failureOf(response, text) ?? new RemoteFailure(status, text, statusWords(status, text.trim()))
}

/** The JSON-RPC error in a body, also in that of an event. Errors of web services have codes of their own. */
function errorIn(text: string): { id: unknown; error: { code: number; message: string; data?: unknown } } | undefined {
  const value = parseJson(text) ?? parseJson(/^data: ?(.*)$/m.exec(text)?.[1] ?? '')
  if (!isRecord(value) || !isRecord(value['error'])) return undefined
  const { code, message, ...more } = value['error']
  if (typeof code !== 'number' || typeof message !== 'string' || (value['jsonrpc'] === undefined && code >= 0))
    return undefined
  const isUsual = Object.keys(more).every((key) => key === 'data')
  return { id: value['id'], error: { code, message, data: isUsual ? more['data'] : more } }
}

function statusWords(status: number, text: string): string {
  if (status >= 300 && status < 400) {
    return `it redirects to another address (HTTP ${status}). If that is its own, put it into its entry as the url`
  }
  // With words of the server, ours would be a guess.
  if (status === 403 && text === '') return 'it denied access (HTTP 403): the credentials may lack a permission'
  if (status === 403) return 'it denied access (HTTP 403)'
  if (status === 404) return 'there is no MCP server at its address (HTTP 404)'
  return `it answered with HTTP ${status}`
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (!value) return undefined
  const ms = /^-?\d[\d.]*$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

export function remoteReason(error: unknown): string | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof RemoteFailure || cause instanceof BodyRefusedError) return cause.message
    const words = WORDS[codeOf(cause)]
    if (words !== undefined) return words
    if (cause.message.startsWith(PROXY)) return cause.message
  }
  const status = statusOf(error)
  return status === undefined ? undefined : statusWords(status, bodyOf(error).trim())
}

/** Where a response redirects to that the client package did not follow, as its error tells it; empty for none. */
export function redirectIn(error: unknown): string {
  const told = /\bRedirect to (\S+) not followed|not followed; try (\S+) as the endpoint/
  const [, to, plain] = causesOf(error).flatMap((cause) => told.exec(cause.message) ?? [])
  return to ?? plain ?? ''
}

/** True when the request certainly had no effect: it never arrived or was refused. */
export function hadNoEffect(error: unknown): boolean {
  const status = statusOf(error)
  if (status !== undefined) return status >= 300 && status < 500
  return causesOf(error).some((cause) => codeOf(cause) in WORDS && !BROKEN_OFF.has(codeOf(cause)))
}

export function wasReached(error: unknown): boolean {
  const status = statusOf(error)
  if (status !== undefined) return !UNREACHED.has(status)
  return !causesOf(error).some(
    (cause) => (codeOf(cause) in WORDS && !HUNG_UP.has(codeOf(cause))) || cause.message.startsWith(PROXY),
  )
}

export function retryAfterOf(error: unknown): number | undefined {
  return causesOf(error).find((cause) => cause instanceof RemoteFailure)?.retryAfterMs
}

function codeOf(error: Error): string {
  const code = String((error as { code?: unknown }).code)
  // OpenSSL's name for this error is only in the message.
  return code === 'EPROTO' && /wrong version number|packet length too long/.test(error.message) ? NO_TLS : code
}

const NO_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER'

/** How errors of proxies begin. */
const PROXY = 'the proxy '

/** Statuses of a proxy that cannot reach the server, and of a server that takes no requests now. */
const UNREACHED = new Set([429, 502, 503, 504])

/** Codes of connections that the server ended. */
export const HUNG_UP = new Set(['ECONNRESET', 'EPIPE'])

/** Codes of connections that broke when a request may already have been sent. */
const BROKEN_OFF = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

const NOT_TRUSTED =
  'its certificate is not from an authority that this machine trusts; NODE_EXTRA_CA_CERTS can name one'

const WORDS: Record<string, string> = {
  [ADDRESS_REFUSED]: 'its address is link-local or serves cloud metadata, which the bridge refuses to contact',
  ECONNREFUSED: 'nothing listens at its address',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'there is no route to its address',
  ENETUNREACH: 'there is no route to its address',
  ENOTFOUND: 'its host name does not exist',
  EAI_AGAIN: 'its host name could not be looked up; the network may be down',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; the clock of this machine may be wrong',
  CERT_REVOKED: 'its certificate was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  [NO_TLS]: 'it does not speak TLS there; the address may need http: instead of https:',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there; the address may need http: instead of https:',
  EPROTO: 'the TLS handshake failed',
}
