// Attaches to a running bridge: reads its state, follows its events, and sends requests.
import { connect, type Socket } from 'node:net'
import { BridgeError, ERROR_CODES, type ErrorCode } from '../../errors.ts'
import type { BridgeEvent } from '../events/event.ts'
import { createLineSplitter } from '../../util/bytes/line-splitter.ts'
import type { LiveBridge } from './live-folder.ts'
import { type LiveSnapshot, LiveState } from './live-state.ts'

export interface LiveHello extends LiveSnapshot {
  pid: number
  version: string
  startedAt: number
}

interface ClientOptions {
  /** Called after `state` was updated with the event. */
  onEvent?: (event: BridgeEvent) => void
  /** `count` events were missed because this client read too slowly. */
  onDropped?: (count: number) => void
  onClose?: () => void
}

const MAX_LINE_BYTES = 64 << 20
const HELLO_MS = 5_000

export class LiveClient {
  readonly bridge: LiveBridge
  readonly hello: LiveHello
  /** The bridge's current state. */
  readonly state: LiveState
  readonly #socket: Socket
  readonly #open = new Map<number, { resolve: (result: unknown) => void; reject: (error: unknown) => void }>()
  #lastId = 0

  private constructor(bridge: LiveBridge, socket: Socket, hello: LiveHello) {
    this.bridge = bridge
    this.#socket = socket
    this.hello = hello
    this.state = LiveState.from(hello)
  }

  /**
   * @throws what node:net throws when the bridge is gone, BridgeError SHUTTING_DOWN when it refuses the connection or
   * does not answer
   */
  static attach(bridge: LiveBridge, options: ClientOptions = {}): Promise<LiveClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(bridge.socket)
      const refuse = (): void => {
        socket.destroy()
        reject(new BridgeError('SHUTTING_DOWN', `Bridge ${bridge.pid} does not answer`))
      }
      const timer = setTimeout(refuse, HELLO_MS)
      let client: LiveClient | undefined
      const lines = createLineSplitter({
        maxBytes: MAX_LINE_BYTES,
        onLine: (line) => {
          const message = JSON.parse(line.toString()) as Message
          if (message.hello) {
            clearTimeout(timer)
            client = new LiveClient(bridge, socket, message.hello)
            resolve(client)
          } else if (client) client.#take(message, options)
        },
        onTooLong: () => options.onDropped?.(1),
      })
      socket.on('data', (chunk: Buffer) => {
        try {
          lines.push(chunk)
        } catch (error) {
          socket.destroy(error as Error)
        }
      })
      socket.on('error', reject)
      socket.on('close', () => {
        clearTimeout(timer)
        if (!client) return refuse()
        client.#closed()
        options.onClose?.()
      })
    })
  }

  /** Send a request to the bridge. @throws BridgeError of the bridge, or SHUTTING_DOWN when it is gone */
  ask(method: string, params: Record<string, unknown> = {}): Promise<unknown> {
    const id = (this.#lastId += 1)
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) throw hasEnded()
      this.#open.set(id, { resolve, reject })
      this.#socket.write(`${JSON.stringify({ id, method, params })}\n`)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take({ event, id, result, error, dropped }: Message, { onEvent, onDropped }: ClientOptions): void {
    if (dropped !== undefined) onDropped?.(dropped)
    if (event) {
      this.state.take(event)
      onEvent?.(event)
    }
    const asked = id === undefined ? undefined : this.#open.get(id)
    if (!asked) return
    this.#open.delete(id!)
    if (error) asked.reject(errorOf(error))
    else asked.resolve(result)
  }

  #closed(): void {
    for (const { reject } of this.#open.values()) reject(hasEnded())
    this.#open.clear()
  }
}

function hasEnded(): BridgeError {
  return new BridgeError('SHUTTING_DOWN', 'The bridge has ended')
}

function errorOf({ code, message, hint }: NonNullable<Message['error']>): BridgeError {
  const known = Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'CANCELLED'
  return new BridgeError(known, message, hint === undefined ? {} : { hint })
}

interface Message {
  hello?: LiveHello
  event?: BridgeEvent
  dropped?: number
  id?: number
  result?: unknown
  error?: { code: string; message: string; hint?: string }
}
