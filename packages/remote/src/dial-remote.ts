// Creates the transport to a remote upstream.
import type { FetchLike, Transport } from '@modelcontextprotocol/client'
import type { RemoteServer } from '@sandbridge/core/config/entries'
import type { Link } from '@sandbridge/core/upstream'
import { createHttpFetch } from './http-fetch.ts'
import { settleLostRequests, trackRequests } from './http-streams.ts'
import type { RemoteOptions } from '@sandbridge/core/parts'
import { DroppedError, OpenRequests, readText } from '@sandbridge/core/upstream/reading'
import { readEvents } from './read-events.ts'
import { exchangeOf, isNotification, readBody, sentIn, textOf, whyNoMessage } from './read-response.ts'
import { failureOf, refusalOf, webPageFailure } from './remote-failure.ts'
import { remoteErrors } from './remote-errors.ts'
import { withTimeout } from '@sandbridge/core/util/async'
import { namesSession } from '@sandbridge/core/upstream/failures'

/** Timeout of the request that ends the session at the server. */
const TERMINATE_MS = 1000
/** How long an event that seems to answer a request may be followed by a better answer. */
const ANSWER_MS = 500

/** After so many streams that ended soon and without an event, the server has none: it is asked for no more. */
const MAX_EMPTY_STREAMS = 5
const SOON_MS = 1000

const ACCEPTED = new Response(null, { status: 202 })
const NO_STREAM = new Response(null, { status: 405 })

/** Requests that find out the era: the client package judges how they fail. */
const HANDSHAKES = new Set<string | undefined>(['initialize', 'server/discover'])

export function dialRemote(server: RemoteServer, via: 'http' | 'sse', options: RemoteOptions): Link {
  const url = new URL(server.url)
  const requests = new OpenRequests()
  let trouble: unknown
  let refusal: unknown
  let unauthorized = ''
  let transport: Transport | undefined
  /** Set once the server has refused to open a stream for its own messages. */
  let hasNoStream = false
  let emptyStreams = 0
  const onDropped = (what: string): void => transport?.onerror?.(new DroppedError(what))
  const http = createHttpFetch({
    allowLinkLocal: options.allowLinkLocal,
    env: options.env,
    onTrouble: (error) => (trouble = error),
    readEvents: (lines, init) => {
      const events = readEvents(lines, {
        open: init.method === 'POST' ? exchangeOf(requests, init, false) : requests,
        onDropped,
        onDoubtful: (message) => void setTimeout(answer, ANSWER_MS, message).unref(),
      })
      return listens(init) ? counted(events) : events
    },
    // The event source would reconnect by itself, to a server that no longer knows the session.
    ...(via === 'sse' && { onEventsEnd: () => void transport?.close() }),
  })
  const answer = (message: Parameters<NonNullable<Transport['onmessage']>>[0]): void => {
    if ('id' in message && requests.methodOf(message.id) !== undefined) transport?.onmessage?.(message)
  }
  /** Whether a request is for the stream of the server's own messages. */
  const listens = (init: RequestInit | undefined): boolean =>
    via === 'http' && init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')
  async function* counted(events: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const soon = performance.now() + SOON_MS
    let hasData = false
    for await (const event of events) {
      hasData ||= event.includes('data:')
      yield event
    }
    emptyStreams = hasData || performance.now() > soon ? 0 : emptyStreams + 1
  }
  /** A response of the server itself, which the client package can read. @throws what it fails the request with */
  const read = async (response: Response, init: RequestInit | undefined): Promise<Response> => {
    const { ok, status, headers } = response
    const isEvents = headers.get('content-type')?.includes('text/event-stream') ?? false
    const sent = ok && status !== 202 ? undefined : sentIn(init)
    if (init?.method === 'GET') hasNoStream = !isEvents
    // The package takes 202 for the promise of a reply elsewhere, whatever comes with it.
    if (status === 202 && isEvents && sent?.id !== undefined) return new Response(response.body, { headers })
    if (status < 400 && (!ok || isEvents || init?.method !== 'POST')) {
      // The package follows a redirect that keeps the method.
      if (!ok && status < 307 && isNotification(init)) return ACCEPTED.clone()
      if (isEvents || init?.method === 'POST') return response
      const page = webPageFailure(response, '')
      const isOther = ok && listens(init)
      if (!page && !isOther) return response
      await response.body?.cancel()
      if (page) throw page
      return NO_STREAM.clone()
    }
    const text = await textOf(response)
    const isSse = ok && via === 'sse'
    // Replies of the older transport belong in its stream.
    if (isSse) for (const message of readText(text, requests, onDropped).messages) answer(message)
    const whole = ok && !isSse ? readBody(response, text, exchangeOf(requests, init, true), onDropped) : undefined
    if (!whole && (isSse || (status === 202 && sent?.id !== undefined && !hasNoStream)))
      return new Response(null, { status: 202, headers })
    return whole ?? withoutReply(response, text, init)
  }
  const withoutReply = (response: Response, text: string, init: RequestInit | undefined): Response => {
    // Whatever is wrong shows with the next request.
    if (isNotification(init)) return ACCEPTED.clone()
    const { ok, status } = response
    // The package finds what it knows of a response by its identity.
    const same = Object.assign(response, { text: () => Promise.resolve(text) })
    const lacksScope = status === 403 && response.headers.get('www-authenticate')?.includes('insufficient_scope')
    if (status === 401 || lacksScope) return same
    const sent = sentIn(init)
    if (sent?.method === undefined || HANDSHAKES.has(sent.method)) {
      const failure = failureOf(response, text)
      if (failure) throw failure
      if (!ok || sent?.method === undefined) return same
    }
    if (!ok) throw refusalOf(response, text, sent.id)
    throw webPageFailure(response, text) ?? new SyntaxError(whyNoMessage(status, text))
  }
  const noted: FetchLike = async (input, requestInit) => {
    const response = await http.fetch(input, requestInit)
    if (response.status !== 401 || !sentIn(requestInit)) return response
    // Whoever authorizes requests does not pass it on.
    unauthorized = await textOf(response.clone())
    // A new session tells whether it was the session that the server did not know.
    const isOfSession =
      new Headers(requestInit?.headers).has('mcp-session-id') &&
      !response.headers.has('www-authenticate') &&
      namesSession(new Error(unauthorized))
    return isOfSession ? new Response(unauthorized, { status: 404 }) : response
  }
  const send = options.auth?.through(noted) ?? noted
  const init = {
    requestInit: { headers: server.headers },
    fetch: async (input: string | URL, requestInit?: RequestInit) => {
      if (emptyStreams >= MAX_EMPTY_STREAMS && listens(requestInit)) return NO_STREAM.clone()
      const response = await send(input, requestInit).catch((error: unknown) => {
        if (isNotification(requestInit)) return ACCEPTED.clone()
        refusal = error
        throw error
      })
      // Only responses of the MCP server: those of an authorization server have other meanings.
      if (new URL(input).pathname !== url.pathname && !sentIn(requestInit)) return response
      return read(response, requestInit)
    },
  }
  const release = (): void => http.close()
  const tracked = trackRequests(requests)
  const errors = remoteErrors(() => unauthorized)
  if (via === 'sse') {
    transport = new options.sdk.SSEClientTransport(url, init)
    const start = transport.start.bind(transport)
    // The event source reports a request that could not be sent without its error, and sends another.
    transport.start = () =>
      start().catch((error: unknown) => {
        throw refusal ?? error
      })
    return { via, transport, release, observers: [tracked], errors }
  }
  const streamable = new options.sdk.StreamableHTTPClientTransport(url, init)
  transport = streamable
  const settled = settleLostRequests(() => {
    const latest = trouble
    trouble = undefined
    return latest
  })
  const terminateSession = (): Promise<void> =>
    withTimeout(streamable.terminateSession(), TERMINATE_MS, () => {}).catch(() => {})
  return { via, transport: streamable, observers: [tracked, settled], terminateSession, release, errors }
}
