// What an error of a request tells of the server's response: its HTTP status, and whether it was a message at all.
import { messageOf } from '../../errors.ts'

/** Undefined where there is none. */
export function statusOf(error: unknown): number | undefined {
  for (const cause of causesOf(error)) {
    const { data, code } = cause as { data?: { status?: unknown }; code?: unknown }
    if (typeof data?.status === 'number') return data.status
    // The error of the older HTTP+SSE transport has its status as its code.
    if (cause.message.startsWith('SSE error') && typeof code === 'number') return code
    const posted = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(cause.message)
    if (posted) return Number(posted[1])
  }
  return undefined
}

/** The client package's schema refused a message of the server. Its error lists every rule of the schema. */
export function isInvalidMessage(error: unknown): boolean {
  return error instanceof Error && error.name.endsWith('ZodError')
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

/**
 * 404 means this (specification 2025-11-25, transports, session management); many servers return 400 with a message.
 */
export function isSessionLost(error: unknown): boolean {
  const status = statusOf(error)
  return status === 404 || (status === 400 && /session/i.test(messageOf(error)))
}
