// The open calls of a kernel: one reply for each, or its cancellation. Bounded, as a hostile cell chooses both.
import { BridgeError, messageOf } from '../../errors.ts'
import { Cancellation } from '../../util/async/cancellation.ts'
import { turnAfterLongWork } from '../../util/async/wait.ts'
import type { CallFrame, ReplyError, ReplyFrame } from '../protocol/frames.ts'
import type { ReplyRoom } from './reply-room.ts'

/** Handles one call. An error that it throws becomes the reply's error. */
export type CallHandler = (call: CallFrame, cancellation: Cancellation) => unknown

export interface CallServer {
  onCall: CallHandler
  /** Called when a call fails, or its reply cannot be sent. @returns more text for the error's hint */
  onCallFailed?: ((error: unknown, call: CallFrame) => string | undefined) | undefined
  /** Called when a call begins. @returns a function to call when it ends */
  onCallBegin?(call: CallFrame): (() => void) | undefined
}

const MAX_OPEN_CALLS = 10_000
/** Most memory for the params of all open calls, by the decoder's estimate; a single larger call may be open alone. */
const MAX_OPEN_BYTES = 256 << 20

export class OpenCalls {
  readonly #open = new Map<number, Cancellation>()
  readonly #room: ReplyRoom
  readonly #reply: (frame: ReplyFrame, more?: (error: unknown) => string | undefined) => void
  #openBytes = 0

  /** @param reply sends a frame; `more` gives more text for the hint of an error that is sent in its place */
  constructor(room: ReplyRoom, reply: (frame: ReplyFrame, more?: (error: unknown) => string | undefined) => void) {
    this.#room = room
    this.#reply = reply
  }

  get count(): number {
    return this.#open.size
  }

  /** Passes a call to its server and sends the reply, unless cancelled. Never rejects. @param bytes it takes */
  async answer(call: CallFrame, bytes: number, server: CallServer): Promise<void> {
    const { id, method } = call
    // Drop a reused id without a reply: the kernel would take the reply for the first call's.
    if (this.#open.has(id)) return
    if (this.#open.size >= MAX_OPEN_CALLS) {
      this.#refuse(id, `More than ${MAX_OPEN_CALLS} calls are open at once`)
      return
    }
    if (this.#open.size > 0 && this.#openBytes + bytes > MAX_OPEN_BYTES) {
      this.#refuse(id, `The arguments of open calls exceed ${MAX_OPEN_BYTES >> 20} MiB`)
      return
    }
    const cancellation = new Cancellation()
    this.#open.set(id, cancellation)
    this.#openBytes += bytes
    let reserved = 0
    let end: (() => void) | undefined
    let reply: ReplyFrame
    try {
      reserved = this.#room.reserve(method) ?? (await this.#room.turn(method, cancellation))
      const turn = turnAfterLongWork()
      if (turn) await turn
      if (cancellation.aborted) throw cancellation.reason
      end = server.onCallBegin?.(call)
      reply = { type: 'reply', id, value: (await server.onCall(call, cancellation)) ?? null }
    } catch (error) {
      reply = { type: 'reply', id, error: replyError(error, server.onCallFailed?.(error, call)) }
    }
    const turn = turnAfterLongWork()
    if (turn) await turn
    end?.()
    this.#open.delete(id)
    this.#openBytes -= bytes
    if (!cancellation.aborted) this.#reply(reply, (error) => server.onCallFailed?.(error, call))
    // After the reply is sent, so that it counts as unread.
    this.#room.release(reserved)
  }

  cancel(id: number): void {
    this.#open.get(id)?.abort()
  }

  cancelAll(): void {
    for (const cancellation of this.#open.values()) cancellation.abort()
  }

  #refuse(id: number, why: string): void {
    this.#reply({ type: 'reply', id, error: replyError(new BridgeError('PROXY_TOO_MANY_CALLS', why)) })
  }
}

/** An error for the sandbox: the bridge's own in full, any other by its message. @param more is added to the hint */
export function replyError(error: unknown, more?: string): ReplyError {
  if (!BridgeError.isInstance(error))
    return { code: 'INTERNAL', message: messageOf(error), ...(more && { hint: more }) }
  const { code, message, data } = error
  // A hint that ends in a path or a URL has no full stop of its own.
  const lacksStop = more !== undefined && /[^.!?…]$/.test(error.hint)
  const hint = [lacksStop ? `${error.hint}.` : error.hint, more].filter(Boolean).join(' ')
  return { code, message, ...(hint && { hint }), ...(data !== undefined && { data }) }
}
