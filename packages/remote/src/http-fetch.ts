// `fetch` over node:http, for remote upstreams. Node's own fetch aborts a response after five minutes, cannot check the
// address it connects to, and supports no proxy. The undici package can be told all three, but a call through it takes
// a fifth more CPU time. This one never follows redirects: the MCP client package does, within an origin.
import http from 'node:http'
import https from 'node:https'
import type { FetchLike } from '@modelcontextprotocol/client'
import { HttpsProxyAgent } from 'https-proxy-agent'
import { assertHostAllowed, guardedLookup } from './address-guard.ts'
import { messageOf } from '@sandbridge/core/errors.ts'
import { unmarked } from '@sandbridge/core/util/json'
import { atMost } from './bounded-body.ts'
import { decoded } from '@sandbridge/shared/unpack/decoded.ts'
import { proxyFor } from './proxy-settings.ts'
import { linesInUtf8, sentIn } from './read-response.ts'
import { HUNG_UP, remoteReason } from './remote-failure.ts'

/** When the operating system starts to probe an idle connection. */
const KEEP_ALIVE_MS = 15_000

/** How long an idle connection is kept: with a limit, Node also closes it before the server does that announces one. */
const KEPT_MS = 600_000

/** A server that closes kept connections so often gets a new one for each request. */
const MAX_HANG_UPS = 2

export interface HttpFetchOptions {
  allowLinkLocal: boolean
  /** Source of proxy settings. */
  env: Record<string, string | undefined>
  /** Responses are files instead of messages: the reader limits their size. */
  files?: boolean
  /** Called with the reason of a failed request or response body, before the caller gets the error. */
  onTrouble?: (error: unknown) => void
  /** Changes the events of a stream. @param lines with LF at their ends */
  readEvents?: (lines: AsyncIterable<Buffer>, init: RequestInit) => AsyncIterable<Buffer>
  /** Called when an event stream ended or broke, but not when it was aborted. */
  onEventsEnd?: () => void
}

export interface HttpFetch {
  fetch: FetchLike
  /** Closes idle connections. */
  close(): void
}

export function createHttpFetch(options: HttpFetchOptions): HttpFetch {
  const kept = { keepAlive: true, timeout: KEPT_MS }
  let hangUps = 0
  const agents = { 'http:': new http.Agent(kept), 'https:': new https.Agent(kept) }
  const tunnels = new Map<string, HttpsProxyAgent<string>>()
  const lookup = options.allowLinkLocal ? {} : { lookup: guardedLookup }
  const all = (): http.Agent[] => [...Object.values(agents), ...tunnels.values()]
  // Not by a header: with `connection: close`, Node keeps the connection, unless the server says that it closes it.
  const onHungUp = (): void => {
    hangUps += 1
    if (hangUps < MAX_HANG_UPS) return
    for (const agent of all()) {
      Object.assign(agent, { keepAlive: false })
      for (const idle of Object.values(agent.freeSockets).flat()) idle?.destroy()
    }
  }

  const prepare = (url: URL): https.RequestOptions => {
    if (!options.allowLinkLocal) assertHostAllowed(url.hostname)
    const proxy = proxyFor(url, options.env)
    if (!proxy) return { ...addressOf(url), agent: agents[url.protocol as 'http:' | 'https:'], ...lookup }
    if (url.protocol === 'http:') {
      return { ...addressOf(proxy), agent: agents['http:'], path: url.href, headers: proxyHeaders(proxy) }
    }
    const tunnel = tunnels.get(proxy.href) ?? tunnelThrough(proxy, hangUps < MAX_HANG_UPS)
    tunnels.set(proxy.href, tunnel)
    return { ...addressOf(url), agent: tunnel }
  }

  return {
    fetch: async (input, init = {}) => {
      const url = new URL(input)
      if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error('the address is not http or https')
      let proxy: URL | undefined
      try {
        proxy = proxyFor(url, options.env)
        const target = prepare(url)
        const message = await send(url, target, init, onHungUp)
        if (message.statusCode !== 407 || !proxy) return toResponse(message, init, options)
        message.resume()
        throw new Error(`the proxy ${proxy.host} wants a user name and a password (HTTP 407)`)
      } catch (cause) {
        const error = ofProxy(cause, proxy)
        options.onTrouble?.(error)
        throw error
      }
    },
    close() {
      for (const agent of all()) agent.destroy()
    },
  }
}

/** The options of a request's target. `servername` must not be an address; the agents ensure that. */
function addressOf(url: URL): https.RequestOptions {
  const { protocol, hostname, port, pathname, search, username, password } = url
  const auth = username || password ? `${decodeURIComponent(username)}:${decodeURIComponent(password)}` : undefined
  const host = hostname.replace(/^\[|\]$/g, '')
  return { protocol, host, port, path: `${pathname}${search}`, ...(auth !== undefined && { auth }) }
}

/** @param onHungUp told when the server has closed a connection that was kept for more requests */
function send(
  url: URL,
  target: https.RequestOptions,
  init: RequestInit,
  onHungUp: () => void,
): Promise<http.IncomingMessage> {
  const body = bodyText(init.body)
  const headers: Record<string, string> = { ...(target.headers as Record<string, string>) }
  for (const [name, value] of new Headers(init.headers)) headers[name] = value
  headers['host'] = url.host
  headers['accept-encoding'] = 'identity'
  if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body))
  return new Promise((resolve, reject) => {
    // The protocol of the connection is the target's: with a proxy, an http: URL may be sent to an https: proxy.
    const request = (target.protocol === 'https:' ? https : http).request({
      ...target,
      method: init.method ?? 'GET',
      headers,
    })
    // Not the request's `signal` option: with it, a socket without a listener throws its error.
    const onAbort = (): void => {
      reject(new DOMException('The request was aborted', 'AbortError'))
      request.destroy()
    }
    request.on('error', (error) => {
      const isHungUp = request.reusedSocket && HUNG_UP.has((error as NodeJS.ErrnoException).code ?? '')
      if (isHungUp) onHungUp()
      if (isHungUp && mayRepeat(init) && !init.signal?.aborted) resolve(send(url, target, init, onHungUp))
      else reject(error)
    })
    request.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS))
    request.on('response', resolve)
    request.on('close', () => init.signal?.removeEventListener('abort', onAbort))
    if (init.signal?.aborted) return onAbort()
    init.signal?.addEventListener('abort', onAbort)
    request.end(body)
  })
}

/** Whether it does no harm that a server gets this request twice: calls and sign-ins may have taken effect. */
function mayRepeat(init: RequestInit): boolean {
  const sent = sentIn(init)
  return init.method === 'GET' || (sent !== undefined && sent.method !== 'tools/call')
}

function bodyText(body: RequestInit['body']): string | undefined {
  if (typeof body === 'string') return unmarked(body)
  if (body === undefined || body === null) return undefined
  if (body instanceof URLSearchParams) return body.toString()
  throw new Error('only text can be sent')
}

function toResponse(message: http.IncomingMessage, request: RequestInit, options: HttpFetchOptions): Response {
  const status = message.statusCode ?? 0
  const headers = new Headers()
  for (let i = 0; i + 1 < message.rawHeaders.length; i += 2)
    headers.append(message.rawHeaders[i]!, message.rawHeaders[i + 1]!)
  const init = { status, statusText: message.statusMessage ?? '', headers }
  if (status === 204 || status === 205 || status === 304) {
    message.resume()
    return new Response(null, init)
  }
  // Of several, the last counts (Fetch, extract a MIME type), as far as the body does not say otherwise.
  const type = headers.get('content-type')
  if (type?.includes(',')) headers.set('content-type', type.split(',').at(-1)!.trim())
  const isEvents = status < 400 && /^text\/event-stream/i.test(headers.get('content-type') ?? '')
  if (isEvents) headers.set('content-type', 'text/event-stream')
  const encoding = headers.get('content-encoding')
  // No message begins as gzip does: it is read without the header that belongs to it, too. A file may begin so.
  const body = encoding === null && options.files === true ? message : decoded(message, encoding ?? '')
  if (encoding !== null) for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  const chunks = (): AsyncIterable<Buffer> => {
    if (isEvents) {
      const lines = linesInUtf8(body, type)
      return options.readEvents?.(lines, request) ?? lines
    }
    return options.files === true ? body : atMost(body)
  }
  const stream = toStream(message, chunks()[Symbol.asyncIterator](), (error) => {
    if (error !== undefined) options.onTrouble?.(error)
    if (isEvents) options.onEventsEnd?.()
  })
  return new Response(stream, init)
}

function toStream(
  message: http.IncomingMessage,
  chunks: AsyncIterator<Buffer>,
  onEnd: (error?: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next()
        if (!done) return controller.enqueue(value)
        controller.close()
        onEnd()
      } catch (error) {
        message.destroy()
        controller.error(error)
        onEnd(error)
      }
    },
    cancel: () => void message.destroy(),
  })
}

function proxyHeaders(proxy: URL): Record<string, string> {
  if (!proxy.username && !proxy.password) return {}
  const { auth } = addressOf(proxy)
  return { 'proxy-authorization': `Basic ${Buffer.from(auth!).toString('base64')}` }
}

/** With a proxy, it is the proxy that is connected to. */
function ofProxy(cause: unknown, proxy: URL | undefined): unknown {
  const { syscall } = cause as NodeJS.ErrnoException
  if (!proxy || (syscall !== 'connect' && syscall !== 'getaddrinfo')) return cause
  return new Error(`the proxy ${proxy.host} cannot be used: ${remoteReason(cause) ?? messageOf(cause)}`, { cause })
}

/** Connects through a proxy's CONNECT. The proxy resolves the name, so the address cannot be checked here. */
function tunnelThrough(proxy: URL, keepAlive: boolean): HttpsProxyAgent<string> {
  const agent = new HttpsProxyAgent(proxy, { keepAlive })
  // Otherwise the answer of the proxy would pass for that of the server.
  agent.on('proxyConnect', ({ statusCode }: { statusCode: number }, request: http.ClientRequest) => {
    if (statusCode === 200) return
    const why =
      statusCode === 407
        ? 'wants a user name and a password (HTTP 407)'
        : `refused the connection with status ${statusCode}`
    request.destroy(new Error(`the proxy ${proxy.host} ${why}`))
  })
  return agent
}
