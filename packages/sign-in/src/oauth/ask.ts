// Requests to authorization servers and for metadata: each has a timeout, and its answer is read completely. The
// headers of the definition go to the MCP server's own origin only, as the definition says: which other hosts are asked
// is for the MCP server to say. It cannot have this machine, or what answers without https, asked in its place.
import type { FetchLike } from '@modelcontextprotocol/client'
import type { RemoteServer, SignInClient } from '@sandbridge/core/config/entries'
import { untilAborted } from '@sandbridge/core/util/async'
import { remoteReason } from '@sandbridge/remote/remote-failure.ts'
import { reachesThisMachine } from '@sandbridge/core/util/net'
import { AuthorizationError } from './authorization-error.ts'
import { isSafe } from './authorization-server.ts'
import { type Answer, fieldsIn, sentenceIn } from './fields.ts'

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
  server: Pick<RemoteServer, 'url' | 'headers' | 'signIn' | 'oauth'>
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
    assertMayName(url, server)
    for (let followed = 0; ; followed += 1) {
      const headers = new Headers(url.origin === origin ? own : [])
      headers.set('accept', 'application/json')
      new Headers(init.headers).forEach((value, name) => headers.set(name, value))
      let response: Response
      let text: string
      try {
        response = await fetch(url, { ...init, headers, signal: until })
        // A response body may never end, even after its request is aborted.
        text = await untilAborted(startOf(response), until)
      } catch (error) {
        if (signal?.aborted) throw error
        const reason = limit.aborted ? `it did not answer within ${limitMs / 1000} s` : remoteReason(error)
        if (reason === undefined) throw error
        throw new AuthorizationError(`${url.host}: ${reason}`, { isOutage: true })
      }
      const next = redirectOf(url, response, init.method ?? 'GET')
      if (!next || followed === MAX_REDIRECTS) {
        return { url: url.href, status: response.status, fields: fieldsIn(text), sentence: sentenceIn(text) }
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

/**
 * Addresses that the MCP server names. Its own origin and what the user's entry names may be anywhere.
 * @throws AuthorizationError
 */
export function assertMayName(url: URL, { url: own, signIn, oauth }: AskOptions['server']): void {
  const { issuer, authServerMetadataUrl, authorizationUrl, tokenUrl }: SignInClient = signIn ?? oauth ?? {}
  const named = [own, issuer, authServerMetadataUrl, authorizationUrl, tokenUrl]
  if (named.some((one) => one !== undefined && URL.canParse(one) && new URL(one).origin === url.origin)) return
  if (reachesThisMachine(url.hostname) && !reachesThisMachine(new URL(own).hostname))
    throw new AuthorizationError(`${url.host}: only a server of this machine may name an address of this machine`, {
      hint: `If it is right, write "issuer": "${url.origin}" into the \`oauth\` of the entry.`,
    })
  if (!isSafe(url.href)) throw new AuthorizationError(`${url.host}: it does not use https`)
}

/** The beginning of a body: all of an answer. Of a longer one, the rest is not waited for. */
async function startOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  // The types of a web stream lack its iterator.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_CHARS) break
  }
  return text
}
