// Whether clients got their results: over stdio the next message shows it, over HTTP the response's end.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'

/** A client that is still there so long after a result has read it. */
const READ_WITHIN_MS = 1_000

/** Undefined: the connection ended right after the result was handed over, and the client may have read it. */
type Tell = (isDelivered: boolean | undefined) => void

export class Deliveries {
  /** By id of the request. */
  readonly #sent = new Map<unknown, { at: number; tell: Tell }>()
  /** Of a run that goes on after the connection of its request: an older client may come back for its result. */
  onLost: Tell | undefined

  /** The result of a run is handed to the transport. */
  sent(request: unknown, tell: Tell): void {
    this.#sent.set(request, { at: performance.now(), tell })
  }

  /** The client has sent a message: it goes on, or gives a request up whose result was on its way. */
  heard(message: JSONRPCMessage): void {
    if (this.#sent.size === 0) return
    const cancelled = 'method' in message && message.method === 'notifications/cancelled' ? message.params : undefined
    for (const [request, { tell }] of this.#sent) tell(cancelled?.['requestId'] !== request)
    this.#sent.clear()
  }

  /** Nothing more comes from the client, or goes to it. */
  ended(isDelivered?: boolean): void {
    const now = performance.now()
    if (isDelivered === false && this.#sent.size === 0) this.onLost?.(false)
    for (const { at, tell } of this.#sent.values()) tell(isDelivered ?? (now - at < READ_WITHIN_MS ? undefined : true))
    this.#sent.clear()
    // What began meanwhile, such as a session's timers, holds this object as long as it lives.
    this.onLost = undefined
  }
}

/** Those of the HTTP response that is being made. */
export const ofResponse = new AsyncLocalStorage<Deliveries>()
