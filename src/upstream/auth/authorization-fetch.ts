// `fetch` for requests to an authorization server: each ends in time, and the last one that failed for no fault of ours is remembered.
// The MCP client package has no time limit there, takes an outage for a refusal, and writes what it is told of an error to stderr.
import type { FetchLike } from '@modelcontextprotocol/client'
import { BridgeError } from '../../errors.ts'
import { untilAborted } from '../../process/wait.ts'
import type { Redactor } from '../../config/secrets/redact.ts'
import { remoteReason } from '../failures/remote-failure.ts'

/** Within the time that a server has for its start, so that what is said is not only that it took too long. */
const LIMIT_MS = 15_000

export interface AuthorizationFetch {
  fetch: FetchLike
  /** What is wrong with the authorization server, when its last answer failed to come or told of an outage. */
  trouble(): string | undefined
}

/**
 * An answer comes whole, and with the secrets taken out where it tells of an error: some authorization servers say what they were sent.
 * @param limitMs for one request, until its answer is complete
 */
export function authorizationFetch(fetch: FetchLike, redact: Redactor, limitMs = LIMIT_MS): AuthorizationFetch {
  let trouble: string | undefined
  return {
    trouble: () => trouble,
    fetch: async (url, init) => {
      const limit = AbortSignal.timeout(limitMs)
      const signal = init?.signal ? AbortSignal.any([init.signal, limit]) : limit
      try {
        const response = await fetch(url, { ...init, signal })
        const { status, statusText, headers } = response
        // The body of an answer may end never, whatever is done to its request.
        const text = await untilAborted(response.text(), signal)
        trouble = status >= 500 || status === 429 ? `it answered with HTTP ${status}` : undefined
        return new Response(text === '' ? null : status < 400 ? text : redact(text), { status, statusText, headers })
      } catch (error) {
        trouble = limit.aborted ? `it did not answer within ${limitMs / 1000} s` : remoteReason(error)
        throw error
      }
    },
  }
}

/** What to tell instead of an error that `trouble` is behind. */
export function authorizationServerFailed(name: string, trouble: string): BridgeError {
  return new BridgeError(
    'UPSTREAM_UNREACHABLE',
    `Sign-in to server '${name}' failed at its authorization server: ${trouble}`,
    { hint: 'The stored sign-in is kept. Retry in a moment.' },
  )
}
