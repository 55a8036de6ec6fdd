// `fetch` for requests to an authorization server: each has a timeout, and the last failure that is not the bridge's
// fault is remembered. The MCP client package has no timeout there, treats an outage as a refusal, and writes error
// responses to stderr.
import type { FetchLike } from '@modelcontextprotocol/client'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { untilAborted } from '@sandbridge/core/util/async/wait.ts'
import type { Redactor } from '@sandbridge/core/config/secrets/redact.ts'
import { remoteReason } from '@sandbridge/remote/remote-failure.ts'

/** Shorter than a server's start timeout, so that the error can name the real reason. */
const LIMIT_MS = 15_000

export interface AuthorizationFetch {
  fetch: FetchLike
  /** What is wrong with the authorization server, when its last response was missing or reported an outage. */
  trouble(): string | undefined
}

/**
 * Reads each response completely, and removes secrets from error responses: some authorization servers quote the
 * request.
 * @param limitMs timeout of one request, including its response body
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
        // A response body may never end, even after its request is aborted.
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

/** The error to report when `trouble` is the reason. */
export function authorizationServerFailed(name: string, trouble: string): BridgeError {
  return new BridgeError(
    'UPSTREAM_UNREACHABLE',
    `Sign-in to server '${name}' failed at its authorization server: ${trouble}`,
    { hint: 'The stored sign-in is kept. Retry in a moment.' },
  )
}
