// What an error of a request tells of the server's response: its HTTP status, and whether it was a message at all.
import { messageOf } from '../../errors.ts'
import { UNREADABLE } from '../reading/lenient-message.ts'

/** A JSON-RPC error that came with an HTTP status other than 200. */
export class RpcRefusal extends Error {
  readonly status: number
  readonly code: number
  readonly data: unknown
  /** It has the id of the request: what answered is what would have done the work. */
  readonly isReply: boolean

  constructor(
    status: number,
    { code, message, data }: { code: number; message: string; data?: unknown },
    isReply: boolean,
  ) {
    super(message)
    this.status = status
    this.code = code
    this.data = data
    this.isReply = isReply
  }
}

/** Undefined where there is none. */
export function statusOf(error: unknown): number | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof RpcRefusal) return cause.status
    const { data, code } = cause as { data?: { status?: unknown }; code?: unknown }
    if (typeof data?.status === 'number') return data.status
    // The error of the older HTTP+SSE transport has its status as its code.
    if (cause.message.startsWith('SSE error') && typeof code === 'number') return code
    const posted = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(cause.message)
    if (posted) return Number(posted[1])
  }
  return undefined
}

/** An error and its causes, outermost first; the client package keeps some causes under `data`. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  let current = error
  while (current instanceof Error && causes.length < 10) {
    causes.push(current)
    const { cause, data, event } = current as {
      cause?: unknown
      data?: { cause?: unknown }
      event?: { error?: unknown }
    }
    if (current instanceof AggregateError) current = current.errors[0]
    else current = cause ?? data?.cause ?? event?.error
  }
  return causes
}

/** The body of the response with which a request failed; empty when it is not known. */
export function bodyOf(error: unknown): string {
  for (const cause of causesOf(error)) {
    const { data } = cause as { data?: { text?: unknown } }
    if (typeof data?.text === 'string') return data.text
    const posted = /^Error POSTing to endpoint \(HTTP \d{3}\): ([^]*)$/.exec(cause.message)
    if (posted) return posted[1]!
  }
  return ''
}

/** With these words, servers say that they do not know the session, or not any more. */
const SESSION_WORDS =
  /\bsession|not (?:been |yet )*initiali[sz]ed|uninitiali[sz]ed|before initiali[sz]|initiali[sz]e first|no (?:active )?transport|^invalid request parameters$/i
/** Codes of servers' own errors and of requests that are invalid now: the words may be any. */
const SESSION_CODES = new Set([-32_000, -32_001, -32_600, UNREADABLE])
/** Of a server, or of what stands in front of it, that takes no requests now, or none from this user. */
const NOT_OF_SESSIONS = new Set([401, 429, 502, 503, 504])

/**
 * Whether the server no longer knows the session: 404 says so (specification 2025-11-25, transports, session
 * management), and 410. Many servers answer otherwise: then one more request must find out.
 */
export function sessionAfter(error: unknown): 'lost' | 'in doubt' | undefined {
  const status = statusOf(error)
  if (status !== undefined && NOT_OF_SESSIONS.has(status)) return namesSession(error) ? 'in doubt' : undefined
  const isReply = error instanceof RpcRefusal && error.isReply
  if ((status === 404 || status === 410) && !isReply) return 'lost'
  if (namesSession(error)) return 'in doubt'
  // A page or an empty body may stand where a session would have had its reply.
  const isOdd = error instanceof SyntaxError || SESSION_CODES.has(Number((error as { code?: unknown }).code))
  return (status === undefined ? isOdd : !isReply) ? 'in doubt' : undefined
}

export function namesSession(error: unknown): boolean {
  return SESSION_WORDS.test(bodyOf(error) || messageOf(error))
}
