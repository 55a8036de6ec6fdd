// MCP with one client, through its relay. The ids of our requests carry a random mark of the connection: each session
// counts from 0, and a late answer to a question of an earlier resident must not answer another question.
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { Deliveries } from '@sandbridge/core/serve/mcp'
import { toClientMessage } from '@sandbridge/core/serve'
import { DroppedError, OpenRequests } from '@sandbridge/core/upstream/reading'
import { tryParseExact } from '@sandbridge/core/util/json'
import { messageLine } from '../reach/protocol.ts'

/** Beyond this, the relay is lost or its client stopped reading for good. */
const MAX_UNREAD_BYTES = 256 * 2 ** 20

/** Whether too much of what was sent has not been read. */
export function leavesUnread(socket: Pick<Socket, 'writableLength'>): boolean {
  return socket.writableLength > MAX_UNREAD_BYTES
}

export class SocketTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly deliveries = new Deliveries()
  readonly #socket: Socket
  readonly #mark = randomBytes(6).toString('base64url')
  /** Lines that came before the server listened. */
  #early: string[] | undefined = []
  /** The ids of calls that have begun and are not answered. */
  readonly #calls = new Set<unknown>()
  #isDraining = false
  /** With their marked ids. Any other may be of a question of an earlier resident. */
  readonly #requests = Object.assign(new OpenRequests(), { wasAsked: () => true })

  constructor(socket: Socket) {
    this.#socket = socket
  }

  start(): Promise<void> {
    const early = this.#early ?? []
    this.#early = undefined
    for (const line of early) this.receive(line)
    return Promise.resolve()
  }

  /** A value of the client as JSON: its relay has read the line, and taken batches apart. */
  receive(line: string): void {
    if (this.#early) return void this.#early.push(line)
    const onDropped = (what: string): void => this.onerror?.(new DroppedError(what))
    const { message, refusal } = toClientMessage(tryParseExact(line), this.#requests, onDropped)
    if (refusal && !this.#socket.destroyed) this.#socket.write(messageLine(refusal))
    if (!message) return
    this.#requests.received(message)
    this.deliveries.heard(message)
    if ('method' in message && !this.#takes(message)) return
    if ('method' in message || !('id' in message)) return this.onmessage?.(message)
    const own = this.#unmarked(message.id)
    if (own !== undefined) this.onmessage?.({ ...message, id: own })
  }

  /** From now on begins no call, and never answers those that come. @returns how many of the earlier ones are open */
  drain(): number {
    this.#isDraining = true
    return this.#calls.size
  }

  /** @returns whether the server gets this message, which may begin or cancel a call */
  #takes(message: Extract<JSONRPCMessage, { method: string }>): boolean {
    if (message.method === 'notifications/cancelled') this.#calls.delete(message.params?.['requestId'])
    if (message.method !== 'tools/call' || !('id' in message)) return true
    // A call with a state goes on with one that has begun: it brings the answer to a question.
    if (this.#isDraining && message.params?.['requestState'] === undefined) return false
    this.#calls.add(message.id)
    return true
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) this.#calls.delete(message.id)
    // Not only when it says something: it may have asked for all of this at once.
    if (leavesUnread(this.#socket)) this.#socket.destroy()
    if (this.#socket.destroyed) return Promise.reject(new Error('The client has disconnected'))
    const marked = this.#marked(message)
    this.#requests.sent(marked)
    return new Promise((resolve, reject) => {
      this.#socket.write(messageLine(marked), (error) => (error ? reject(error) : resolve()))
    })
  }

  #marked(message: JSONRPCMessage): JSONRPCMessage {
    if (!('method' in message)) return message
    if ('id' in message) return { ...message, id: `${this.#mark}:${message.id}` }
    const { requestId } = message.params ?? {}
    if (message.method !== 'notifications/cancelled' || typeof requestId !== 'number') return message
    return { ...message, params: { ...message.params, requestId: `${this.#mark}:${requestId}` } }
  }

  /** The id that our request had; undefined when it was not ours. */
  #unmarked(id: unknown): number | undefined {
    const [mark, number] = String(id).split(':')
    return mark === this.#mark && number !== undefined && /^\d+$/.test(number) ? Number(number) : undefined
  }

  close(): Promise<void> {
    this.#socket.end()
    this.onclose?.()
    return Promise.resolve()
  }
}
