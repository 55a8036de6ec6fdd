// Requests to authorization servers and for metadata: each has a timeout, and its answer is read completely. The
// headers of the definition go to the MCP server's own origin only, as the definition says: which other hosts are asked
// is for the MCP server to say.
import type { FetchLike } from '@modelcontextprotocol/client'
import { untilAborted } from '@sandbridge/core/util/async/wait.ts'
import { remoteReason } from '@sandbridge/remote/remote-failure.ts'
import { AuthorizationError } from './authorization-error.ts'
import { type Answer, fieldsIn } from './fields.ts'

/** Shorter than a server's start timeout, so that the error can name the real reason. */
const LIMIT_MS = 15_000
/** Metadata and tokens are far smaller. */
const MAX_CHARS = 1024 * 1024
const MAX_REDIRECTS = 5

/**
 * @throws AuthorizationError when there is no answer
 */
export type Ask = (address: string, init?: RequestInit) => Promise<Answer>

interface AskOptions {
  fetch: FetchLike
  /** The MCP server. */
  server: { url: string; headers: Record<string, string> }
  signal?: AbortSignal | undefined
  /** Timeout of one request, including its response body. */
  limitMs?: number | undefined
}

export function asker({ fetch, server, signal, limitMs = LIMIT_MS }: AskOptions): Ask {
  const { origin } = new URL(server.url)
  const own = Object.entries(server.headers).filter(([name]) => name.toLowerCase() !== 'authorization')
  return async (address, init = {}) => {
    const limit = AbortSignal.timeout(limitMs)
    const until = signal ? AbortSignal.any([signal, limit]) : limit
    let url = new URL(address)
    for (let followed = 0; ; followed += 1) {
      const headers = new Headers(url.origin === origin ? own : [])
      headers.set('accept', 'application/json')
      new Headers(init.headers).forEach((value, name) => headers.set(name, value))
      let response: Response
      let text: string
      try {
        response = await fetch(url, { ...init, headers, signal: until })
        // A response body may never end, even after its request is aborted.
        text = await untilAborted(response.text(), until)
      } catch (error) {
        if (signal?.aborted) throw error
        const reason = limit.aborted ? `it did not answer within ${limitMs / 1000} s` : remoteReason(error)
        if (reason === undefined) throw error
        throw new AuthorizationError(`${url.host}: ${reason}`, { isOutage: true })
      }
      const next = redirectOf(url, response, init.method ?? 'GET')
      if (!next || followed === MAX_REDIRECTS) {
        return { url: url.href, status: response.status, fields: fieldsIn(text.slice(0, MAX_CHARS)) }
      }
      url = next
    }
  }
}

/** Redirects are followed within an origin only, and those of a POST only where they keep it one. */
function redirectOf(from: URL, { status, headers }: Response, method: string): URL | undefined {
  const location = headers.get('location')
  const isRedirect = [301, 302, 303, 307, 308].includes(status) && location !== null
  if (!isRedirect || !URL.canParse(location, from.href)) return undefined
  const to = new URL(location, from)
  return to.origin === from.origin && (method === 'GET' || status >= 307) ? to : undefined
}
