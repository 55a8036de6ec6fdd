// The stdio of a pod's first process over one WebSocket to `pods/attach`: protocols v5 and v4 of channel.k8s.io, where
// the first byte of a message names its stream. Bounded in both directions: reads no faster than its reader, and sends
// no faster than the cluster accepts.
import { Readable, Writable } from 'node:stream'
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { messageOf } from '@sandbridge/core/errors.ts'
import { createByteTail } from '@sandbridge/core/util/bytes'
import { readAtMost } from '@sandbridge/shared/unpack/decoded.ts'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { oneLine } from '@sandbridge/core/util/text'
import type { ApiClient } from './api-client.ts'
import { ApiError, ApiUnreachable } from './api-errors.ts'

const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const STDIN = 0
const STDOUT = 1
const STDERR = 2
const STATUS = 3
/** Followed by the number of a stream that has ended. Only in v5. */
const CLOSE = 255

const HANDSHAKE_MS = 10_000
const PING_MS = 10_000
/** After this many unanswered pings in a row, the connection is lost. */
const MAX_MISSED_PINGS = 3
const MESSAGE_BYTES = 64 << 10
/** Largest message to receive: servers send at most 32 KiB. */
const MAX_RECEIVED_BYTES = 8 << 20
const MAX_REFUSAL_BYTES = 64 << 10
const STDERR_TAIL_BYTES = 4096

/** How the channel ended. */
export interface ChannelEnd {
  /** `done`: the process closed it. `broken`: the connection was lost. `closed`: the bridge closed it. */
  how: 'done' | 'broken' | 'closed'
  detail: string
}

export class AttachChannel {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Resolves once, after all received data was passed to `stdout`. Never rejects. */
  readonly ended: Promise<ChannelEnd>
  readonly #stderr = createByteTail(STDERR_TAIL_BYTES)
  readonly #pingMs: number
  readonly #onStderr: (chunk: Buffer) => void
  #end!: (end: ChannelEnd) => void
  #socket: WebSocket | undefined
  /** The write that waits for the connection. */
  #whenOpen: (() => void) | undefined
  #hasEnded = false
  #status: string | undefined
  #missedPings = 0
  #received = false

  /** @param pace a factor of the interval between pings; replaced in tests */
  constructor(pace = 1, onStderr: (chunk: Buffer) => void = () => {}) {
    this.#pingMs = PING_MS * pace
    this.#onStderr = onStderr
    this.ended = new Promise((resolve) => {
      this.#end = (end) => {
        if (this.#hasEnded) return
        this.#hasEnded = true
        this.stdout.push(null)
        this.stdin.destroy()
        resolve(end)
      }
    })
    this.stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => this.#write(chunk, done),
      writev: (chunks, done) => this.#writeAll(chunks, done),
      final: (done) => this.#closeStdin(done),
      destroy: (error, done) => {
        this.#whenOpen = undefined
        done(error)
      },
    })
    this.stdout = new Readable({ read: () => this.#socket?.resume() })
    // Writing to a sandbox that is gone is harmless.
    this.stdin.on('error', () => {})
    this.stdout.on('error', () => {})
  }

  /** The end of the stderr output. */
  get stderr(): string {
    return this.#stderr.text().trim()
  }

  /** True if the process ever wrote to stdout. */
  get spoke(): boolean {
    return this.#received
  }

  /** True while the reader is behind: the connection may hold unread data. */
  get isStalled(): boolean {
    return this.#socket?.isPaused ?? false
  }

  /** @throws ApiError, ApiUnreachable if no connection is made; nothing has reached the pod then */
  async connect(client: ApiClient, path: string, container: string): Promise<void> {
    const query = { container, stdin: 'true', stdout: 'true', stderr: 'true', tty: 'false' }
    const { url, options } = await client.socketOptions({ path, query })
    const socket = new WebSocket(url, PROTOCOLS, {
      ...options,
      perMessageDeflate: false,
      skipUTF8Validation: true,
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_RECEIVED_BYTES,
    })
    await new Promise<void>((resolve, reject) => {
      // Relevant only before the connection is open; later errors are followed by `close`.
      socket.on('error', (error) => reject(new ApiUnreachable(messageOf(error), { cause: error })))
      socket.once('unexpected-response', (_request, response: IncomingMessage) => {
        void refusal(response).then((error) => {
          if (error.status === 401) client.forgetCredentials()
          reject(error)
          socket.terminate()
        })
      })
      socket.once('open', () => resolve())
    })
    if (this.#hasEnded) return socket.terminate()
    this.#socket = socket
    socket.on('message', (data: Buffer) => this.#receive(data))
    socket.on('pong', () => (this.#missedPings = 0))
    const pinging = setInterval(() => this.#ping(), this.#pingMs).unref()
    socket.once('close', (code, reason) => {
      clearInterval(pinging)
      this.#end(this.#explainClose(code, reason.toString()))
    })
    this.#whenOpen?.()
    this.#whenOpen = undefined
  }

  /** Close the channel now. Unsent data is lost. */
  close(): void {
    this.#end({ how: 'closed', detail: '' })
    const socket = this.#socket
    if (!socket) return
    // A paused socket would never read the server's close message.
    socket.resume()
    socket.close(1000)
    setTimeout(() => socket.terminate(), 1000).unref()
  }

  /** Sends one message at a time, so that a frame of many megabytes is not copied as a whole. */
  #write(chunk: Buffer, done: (error?: Error | null) => void): void {
    const socket = this.#socket
    if (!socket) {
      this.#whenOpen = () => this.#write(chunk, done)
      return
    }
    const send = (from: number): void => {
      const part = chunk.subarray(from, from + MESSAGE_BYTES)
      const message = Buffer.allocUnsafe(part.byteLength + 1)
      message[0] = STDIN
      part.copy(message, 1)
      socket.send(message, (error) => {
        if (error || from + part.byteLength >= chunk.byteLength) done(error)
        else send(from + part.byteLength)
      })
    }
    send(0)
  }

  /** Combines small chunks into one message. */
  #writeAll([first, ...rest]: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    if (!first) return done()
    const chunks = [first.chunk]
    let bytes = first.chunk.byteLength
    while (rest[0] && bytes + rest[0].chunk.byteLength <= MESSAGE_BYTES) {
      const { chunk } = rest.shift()!
      chunks.push(chunk)
      bytes += chunk.byteLength
    }
    this.#write(chunks.length === 1 ? first.chunk : Buffer.concat(chunks), (error) => {
      if (error) done(error)
      else this.#writeAll(rest, done)
    })
  }

  #closeStdin(done: () => void): void {
    const socket = this.#socket
    if (!socket) {
      this.#whenOpen = () => this.#closeStdin(done)
      return
    }
    if (socket.protocol === PROTOCOLS[0]) socket.send(Buffer.from([CLOSE, STDIN]))
    done()
  }

  #receive(message: Buffer): void {
    const body = message.subarray(1)
    switch (message[0]) {
      case STDOUT:
        if (body.byteLength === 0) return
        this.#received = true
        if (!this.#hasEnded && !this.stdout.push(body)) this.#socket?.pause()
        break
      case STDERR:
        this.#stderr.push(body)
        this.#onStderr(body)
        break
      case STATUS: {
        const status = parseJson(body.toString('utf8'))
        if (isRecord(status) && typeof status['status'] === 'string')
          this.#status = status['status'] === 'Success' ? '' : oneLine(status['message'], 400) || 'failed'
        break
      }
    }
  }

  #ping(): void {
    const socket = this.#socket
    // While the reader is behind, the answer would remain unread, too.
    if (socket?.readyState !== WebSocket.OPEN || socket.isPaused) return
    if (this.#missedPings >= MAX_MISSED_PINGS) {
      const seconds = (MAX_MISSED_PINGS * this.#pingMs) / 1000
      this.#end({ how: 'broken', detail: `The connection to the pod has not answered for ${seconds} s` })
      socket.terminate()
      return
    }
    this.#missedPings += 1
    socket.ping()
  }

  #explainClose(code: number, reason: string): ChannelEnd {
    if (this.#status !== undefined) return { how: 'done', detail: this.#status }
    if (code === 1000) return { how: 'done', detail: reason }
    return { how: 'broken', detail: `The connection to the pod was closed (${code}${reason && `, ${reason}`})` }
  }
}

async function refusal(response: IncomingMessage): Promise<ApiError> {
  const body = await readAtMost(response, MAX_REFUSAL_BYTES, () => new Error('too long')).catch(() => '')
  return new ApiError(response.statusCode ?? 0, parseJson(body.toString()))
}
