// What went wrong at an authorization server, or at a place for its metadata, and what it means for a sign-in.
import { STATUS_CODES } from 'node:http'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { type Redactor, redactStart } from '@sandbridge/core/config/secrets'
import { oneLine } from '@sandbridge/core/util/text'
import { type Answer, errorIn, type SaidError, textIn } from './fields.ts'

const SHOWN_CHARS = 500

interface About {
  /** It may work later: a sign-in is kept. */
  isOutage?: boolean
  /** It may be an outage, or mean no: only what certainly means no ends a sign-in. */
  isUnclear?: boolean
  /** What the authorization server said. */
  said?: SaidError
  /** One command or change that helps. */
  hint?: string
}

/** Its message may quote the authorization server: `authorizationFailure` redacts it. */
export class AuthorizationError extends Error {
  readonly isOutage: boolean
  readonly isUnclear: boolean
  readonly said: SaidError | undefined
  readonly hint: string | undefined

  constructor(message: string, { isOutage = false, isUnclear = false, said, hint }: About = {}) {
    super(message)
    this.isOutage = isOutage
    this.isUnclear = isUnclear
    this.said = said
    this.hint = hint
  }

  /** The authorization server does not know the client: it has to be registered anew. */
  get isUnknownClient(): boolean {
    return ['invalid_client', 'unauthorized_client'].includes(plain(this.said?.code))
  }
}

/** `Service Unavailable` and `SERVICE-UNAVAILABLE` are one code. */
function plain(code = ''): string {
  return code.toLowerCase().replaceAll(/[\s.-]+/g, '_')
}

const BUSY = new Set([408, 425, 429])
/** Codes that say "later", with whatever status and however they are written. */
const LATER =
  /^(?:internal|unavailable|server_?error|slow_?down|rate_?limit|too_?many|throttl|overload|maintenance|(?:gateway_|request_)?time_?out|(?:temporarily|service|server)\w*_unavailable)/
/** Codes such as "Forbidden" say no more than the status: gateways answer so. */
const REASONS = new Set(Object.values(STATUS_CODES).map((reason) => reason?.toLowerCase()))
/** Codes that are about the grant or the client, with whatever status. */
const REFUSED = new Set(['invalid_grant', 'invalid_token', 'invalid_client', 'unauthorized_client', 'token_expired'])

/**
 * What an answer without a result means. @param what of the answer, such as `the token request`
 */
export function refusalOf(answer: Answer, what: string): AuthorizationError {
  const { status, fields, sentence } = answer
  const inFields = fields && errorIn(fields)
  const code = plain(inFields?.code)
  const said = REASONS.has(inFields?.code.toLowerCase()) ? undefined : inFields
  const { host } = new URL(answer.url)
  const isFailure = status >= 500 || BUSY.has(status)
  if (LATER.test(code) || (isFailure && !(said && REFUSED.has(code)))) {
    return new AuthorizationError(`${host} answered ${what} with ${said ? inWords(said) : `HTTP ${status}`}`, {
      isOutage: true,
      ...(said && { said }),
    })
  }
  if (said) return new AuthorizationError(`${host} refused ${what}: ${inWords(said)}`, { said })
  if (status >= 300) {
    const isUnclear = status !== 400 && status !== 401
    const description = sentence ?? inFields?.description ?? (fields && textIn(fields, 'message'))
    const words = description === undefined ? '' : `: ${description}`
    return new AuthorizationError(`${host} refused ${what} with HTTP ${status}${words}`, { isUnclear })
  }
  const found = fields ? 'fields that are not understood' : 'a page in place of an answer'
  return new AuthorizationError(`${host} answered ${what} with ${found}`, { isUnclear: true })
}

function inWords({ code, description }: SaidError): string {
  return description === undefined || description === code ? code : `${code}: ${description}`
}

/**
 * The error for a sign-in that failed, or that could not be refreshed.
 * @param again what to do where the failure does not say it
 */
export function authorizationFailure(name: string, error: unknown, redact: Redactor, again: string): BridgeError {
  if (BridgeError.isInstance(error)) return error
  const text = oneLine(redactStart(redact, messageOf(error), SHOWN_CHARS), SHOWN_CHARS)
  if (error instanceof AuthorizationError && error.isOutage) {
    const message = `Sign-in to server '${name}' failed at its authorization server: ${text}`
    return new BridgeError('UPSTREAM_UNREACHABLE', message, { hint: 'The sign-in is still stored. Retry in a moment.' })
  }
  const hint = (error instanceof AuthorizationError && error.hint) || again
  return new BridgeError('UPSTREAM_AUTH_REQUIRED', `The login at server '${name}' failed: ${text}`, {
    hint: redact(hint),
  })
}
