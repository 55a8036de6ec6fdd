// Sends requests to one cluster's API server: JSON over HTTPS, with current credentials. Retries where that is safe and
// the server is overloaded or briefly unavailable. Uses Node's https client, because fetch does not accept a
// certificate authority.
import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '@sandbridge/core/errors.ts'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import { createLineSplitter } from '@sandbridge/core/util/bytes'
import { readAtMost } from '@sandbridge/shared/unpack/decoded.ts'
import { ApiError, ApiUnreachable } from './api-errors.ts'
import type { Credentials, CredentialSource } from './credentials.ts'

export interface ApiRequest {
  /** `PATCH` sends a JSON patch. */
  method: 'GET' | 'POST' | 'DELETE' | 'PATCH'
  path: string
  query?: Record<string, string>
  body?: unknown
}

/** Timeout of one response. */
const ANSWER_MS = 15_000
/** Total time for a request, with retries while the server is overloaded or unavailable. */
export const PATIENCE_MS = 12_000
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 4_000
const MAX_ANSWER_BYTES = 16 << 20
/** Longest event of a watch. */
const MAX_LINE_BYTES = 4 << 20
/** TCP keep-alive for a watch's idle connection; without it, a lost connection is noticed only after hours. */
const KEEP_ALIVE_MS = 15_000
const PATCH_TYPE = 'application/json-patch+json'

export class ApiClient {
  readonly #server: URL
  readonly #credentials: CredentialSource
  readonly #patienceMs: number
  #agent: { key: string; agent: Agent } | undefined

  constructor(server: URL, credentials: CredentialSource, patienceMs = PATIENCE_MS) {
    this.#server = server
    this.#credentials = credentials
    this.#patienceMs = patienceMs
  }

  /** @throws ApiError, ApiUnreachable, BridgeError if there are no usable credentials */
  async request(request: ApiRequest): Promise<unknown> {
    const startedAt = performance.now()
    for (let pauseMs = FIRST_PAUSE_MS, refused = false; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        return await this.#once(request)
      } catch (error) {
        if (error instanceof ApiError && error.status === 401 && !refused) {
          // The credentials may have been rotated since they were read.
          refused = true
          this.#credentials.forget()
          continue
        }
        const waitMs = Math.min(retryAfter(error) ?? pauseMs, MAX_PAUSE_MS) * (0.75 + Math.random() / 2)
        if (!mayRetry(error) || performance.now() - startedAt + waitMs > this.#patienceMs) throw error
        await sleep(waitMs)
      }
    }
  }

  /**
   * Reads the events of a watch until the server ends it.
   * @param silentMs ends a watch after this time without an event or a bookmark
   * @throws ApiError, ApiUnreachable
   */
  async watch(
    request: ApiRequest,
    onEvent: (event: unknown) => void,
    { signal, silentMs }: { signal: AbortSignal; silentMs: number },
  ): Promise<void> {
    const response = await this.#open(request, silentMs, signal)
    if (response.statusCode !== 200) throw await failure(response)
    await eachJsonLine(response, onEvent)
  }

  /** Returns the URL and options of a WebSocket to a path. All of it is secret. */
  async socketOptions({ path, query }: Pick<ApiRequest, 'path' | 'query'>) {
    const { tls, token } = await this.#credentials.get()
    const url = new URL(`${this.#base()}${path}?${new URLSearchParams(query).toString()}`)
    url.protocol = 'wss:'
    return { url, options: { ...tls, ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }) } }
  }

  /** The cluster refused the credentials of a WebSocket. */
  forgetCredentials(): void {
    this.#credentials.forget()
  }

  async #once(request: ApiRequest): Promise<unknown> {
    const response = await this.#open(request, ANSWER_MS)
    const { statusCode = 0 } = response
    if (statusCode < 200 || statusCode > 299) throw await failure(response)
    const body = await readBody(response)
    const value = parseJson(body)
    if (value === undefined) throw new ApiUnreachable('it answers with something that is not JSON')
    return value
  }

  async #open({ method, path, query, body }: ApiRequest, silentMs: number, signal?: AbortSignal) {
    const { tls, token } = await this.#credentials.get()
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const search = query ? `?${new URLSearchParams(query).toString()}` : ''
    return new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = httpsRequest(
        `${this.#base()}${path}${search}`,
        {
          method,
          agent: this.#agentFor(tls),
          headers: {
            Accept: 'application/json',
            'User-Agent': 'sandbridge',
            ...(token !== undefined && { Authorization: `Bearer ${token}` }),
            ...(content && {
              'Content-Type': method === 'PATCH' ? PATCH_TYPE : 'application/json',
              'Content-Length': content.byteLength,
            }),
          },
          ...(signal && { signal }),
          timeout: silentMs,
        },
        resolve,
      )
      outgoing.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS))
      outgoing.on('timeout', () => outgoing.destroy(new ApiUnreachable(`no answer within ${silentMs / 1000} s`)))
      outgoing.on('error', (error) => reject(unreachable(error)))
      outgoing.end(content)
    })
  }

  #base(): string {
    return this.#server.href.replace(/\/+$/, '')
  }

  #agentFor(tls: Credentials['tls']): Agent {
    const key = JSON.stringify(tls)
    if (this.#agent?.key !== key) {
      // Requests in progress keep the connections of the old agent.
      this.#agent = { key, agent: new Agent({ ...tls, keepAlive: true, maxFreeSockets: 4, timeout: 0 }) }
    }
    return this.#agent.agent
  }
}

function unreachable(error: unknown): Error {
  return error instanceof ApiUnreachable ? error : new ApiUnreachable(messageOf(error), { cause: error })
}

async function failure(response: IncomingMessage): Promise<ApiError> {
  const error = new ApiError(response.statusCode ?? 0, parseJson(await readBody(response).catch(() => '')))
  const seconds = Number(response.headers['retry-after'])
  if (Number.isFinite(seconds) && seconds >= 0) retryTimes.set(error, seconds * 1000)
  return error
}

const retryTimes = new WeakMap<ApiError, number>()

function retryAfter(error: unknown): number | undefined {
  return error instanceof ApiError ? retryTimes.get(error) : undefined
}

/** Retries are safe: callers choose the names of the objects they create. */
function mayRetry(error: unknown): boolean {
  if (error instanceof ApiUnreachable) return true
  return error instanceof ApiError && (error.status === 429 || error.status >= 500)
}

async function readBody(response: IncomingMessage): Promise<string> {
  const tooLong = (): Error => new ApiUnreachable('its answer is too long')
  const body = await readAtMost(response, MAX_ANSWER_BYTES, tooLong).catch((error: unknown) => {
    throw unreachable(error)
  })
  return body.toString()
}

/**
 * Reads JSON lines, as a watch sends them, until the stream ends.
 * @throws ApiUnreachable if it breaks or a line is too long
 */
async function eachJsonLine(stream: Readable, onValue: (value: unknown) => void): Promise<void> {
  const lines = createLineSplitter({
    maxBytes: MAX_LINE_BYTES,
    onLine: (line) => {
      const value = parseJson(line.toString())
      if (value !== undefined) onValue(value)
    },
    onTooLong: () => {
      throw new ApiUnreachable('an event of its watch is too long')
    },
  })
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) lines.push(chunk)
  } catch (error) {
    throw unreachable(error)
  } finally {
    stream.destroy()
  }
}
