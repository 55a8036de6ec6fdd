// Lets programs of the same user watch a bridge and send it requests: `sandbridge top` and the page. Speaks lines of
// JSON over a Unix socket (on Windows, a named pipe). The bridge sends {"hello": …} with a snapshot, then {"event": …}
// per event, and answers {"id", "method", "params"} with {"id", "result"} or {"id", "error"}. A client that reads too
// slowly misses events and is told how many: {"dropped": 12}.
import { chmod, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { BridgeError, messageOf } from '../../errors.ts'
import type { BridgeEvent } from '../events/event.ts'
import type { Subscriber } from '../events/event-stream.ts'
import { hostId } from '../../util/process/process-id.ts'
import { createLineSplitter } from '../../util/bytes/line-splitter.ts'
import { register, socketPath } from './live-folder.ts'
import { LiveState } from './live-state.ts'
import { wireLine } from './wire-event.ts'

/** Methods that a client can call, by name. */
export type LiveMethods = Record<string, (params: Record<string, unknown>) => unknown>

interface LiveServerOptions {
  /** Name of the bridge's entry. */
  id: string
  stateDir: string
  version: string
  methods: LiveMethods
  /** Delivers waiting events, so that the snapshot for a new client is complete. */
  catchUp: () => void
  onError: (error: unknown) => void
}

const MAX_CLIENTS = 64
const MAX_LINE_BYTES = 1 << 20
/** Most unread bytes per client before it misses events. */
const MAX_UNREAD_BYTES = 8 << 20

export class LiveServer implements Subscriber {
  readonly name = 'live'
  readonly #options: LiveServerOptions
  readonly #state = new LiveState()
  readonly #clients = new Map<Socket, { dropped: number }>()
  readonly #startedAt = Date.now()
  #server: Server | undefined
  #forget: (() => Promise<void>) | undefined
  #socket = ''

  constructor(options: LiveServerOptions) {
    this.#options = options
  }

  /** @throws what node:net and node:fs throw */
  async listen(): Promise<void> {
    const { id, stateDir, version } = this.#options
    this.#socket = await socketPath(stateDir, id)
    const server = createServer((client) => this.#admit(client))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#socket, resolve)
    })
    server.on('error', this.#options.onError)
    // Watchers do not keep the bridge alive: it ends with its MCP client.
    server.unref()
    this.#server = server
    try {
      if (process.platform !== 'win32') await chmod(this.#socket, 0o600)
      this.#forget = await register(stateDir, {
        id,
        pid: process.pid,
        host: hostId(),
        socket: this.#socket,
        startedAt: this.#startedAt,
        version,
        cwd: process.cwd(),
      })
    } catch (error) {
      // Such as on a full disk. Without an entry, no reader would remove the socket.
      await this.close()
      throw error
    }
  }

  get isWatched(): boolean {
    return this.#clients.size > 0
  }

  receive(events: readonly BridgeEvent[]): void {
    for (const event of events) this.#state.take(event)
    if (this.#clients.size === 0) return
    const text = events.map((event) => `{"event":${wireLine(event)}}\n`).join('')
    for (const [client, state] of this.#clients) {
      if (client.writableLength > MAX_UNREAD_BYTES) state.dropped += events.length
      else {
        if (state.dropped > 0) client.write(`{"dropped":${state.dropped}}\n`)
        state.dropped = 0
        client.write(text)
      }
    }
  }

  async close(): Promise<void> {
    await this.#forget?.().catch(this.#options.onError)
    for (const client of this.#clients.keys()) client.destroy()
    await new Promise<void>((resolve) => (this.#server ? this.#server.close(() => resolve()) : resolve()))
    if (this.#socket !== '' && process.platform !== 'win32') await rm(this.#socket, { force: true }).catch(() => {})
  }

  #admit(client: Socket): void {
    if (this.#clients.size >= MAX_CLIENTS) {
      client.destroy()
      return
    }
    this.#options.catchUp()
    this.#clients.set(client, { dropped: 0 })
    client.unref()
    client.on('error', () => {})
    client.on('close', () => this.#clients.delete(client))
    const { version } = this.#options
    const hello = { pid: process.pid, version, startedAt: this.#startedAt, ...this.#state.snapshot }
    client.write(`${JSON.stringify({ hello })}\n`)
    const lines = createLineSplitter({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => void this.#answer(client, line.toString()),
      onTooLong: () => client.destroy(),
    })
    client.on('data', (chunk: Buffer) => lines.push(chunk))
  }

  async #answer(client: Socket, line: string): Promise<void> {
    let id: unknown
    try {
      const request = JSON.parse(line) as { id?: unknown; method?: unknown; params?: unknown }
      id = request.id
      const { methods } = this.#options
      const method = typeof request.method === 'string' && Object.hasOwn(methods, request.method) && request.method
      if (!method) throw new BridgeError('PROXY_METHOD_UNKNOWN', `There is no method '${String(request.method)}'`)
      const params = typeof request.params === 'object' && request.params !== null ? request.params : {}
      const result = await methods[method]!(params as Record<string, unknown>)
      client.write(`${JSON.stringify({ id, result: result ?? null })}\n`)
    } catch (error) {
      const { code, hint } = BridgeError.isInstance(error) ? error : { code: 'INTERNAL', hint: undefined }
      if (client.writable) client.write(`${JSON.stringify({ id, error: { code, message: messageOf(error), hint } })}\n`)
    }
  }
}
