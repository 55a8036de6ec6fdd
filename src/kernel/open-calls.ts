// The calls a kernel has open: one reply for each, cancelled when the cell lets go of them, bounded in number and size because a hostile cell chooses both.
import { BridgeError, messageOf } from '../errors.ts'
import { Cancellation } from '../process/cancellation.ts'
import type { CallFrame, ReplyError, ReplyFrame } from '../protocol/frames.ts'
import type { ReplyRoom } from './reply-room.ts'

/** Answers one call; whatever it throws becomes the reply's error. */
export type CallHandler = (call: CallFrame, cancellation: Cancellation) => unknown

/** Serves the calls of one cell. */
export interface CallServer {
  onCall: CallHandler
  /** Hears why a call failed. @returns what its reader is told besides */
  onCallFailed?: ((error: unknown) => string | undefined) | undefined
  /** Hears that a call begins, and by what it returns that it is over. */
  onCallBegin?(call: CallFrame): (() => void) | undefined
}

const MAX_OPEN_CALLS = 10_000
/** Of the params of all open calls, as the decoder weighs frames. One call that weighs more may be open by itself. */
const MAX_OPEN_BYTES = 256 << 20

export class OpenCalls {
  readonly #open = new Map<number, Cancellation>()
  readonly #room: ReplyRoom
  readonly #reply: (frame: ReplyFrame) => void
  #openBytes = 0

  constructor(room: ReplyRoom, reply: (frame: ReplyFrame) => void) {
    this.#room = room
    this.#reply = reply
  }

  get count(): number {
    return this.#open.size
  }

  /**
   * Hand a call to who serves it and send the reply when there is one. Never rejects.
   * @param bytes what the call takes in memory
   */
  async answer(call: CallFrame, bytes: number, server: CallServer): Promise<void> {
    const { id, method } = call
    // A reused id is dropped without a reply: the reply to it would be taken for the first call's.
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
      end = server.onCallBegin?.(call)
      reply = { type: 'reply', id, value: (await server.onCall(call, cancellation)) ?? null }
    } catch (error) {
      reply = { type: 'reply', id, error: replyError(error, server.onCallFailed?.(error)) }
    }
    end?.()
    this.#open.delete(id)
    this.#openBytes -= bytes
    if (!cancellation.aborted) this.#reply(reply)
    // Once the answer has been sent, so that it counts.
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

/** An error as it may be shown inside the sandbox: the bridge's own errors whole, anything else by its message. @param more to be told besides */
export function replyError(error: unknown, more?: string): ReplyError {
  if (!BridgeError.isInstance(error))
    return { code: 'INTERNAL', message: messageOf(error), ...(more && { hint: more }) }
  const { code, message, data } = error
  const hint = [error.hint, more].filter(Boolean).join(' ')
  return { code, message, ...(hint && { hint }), ...(data !== undefined && { data }) }
}
