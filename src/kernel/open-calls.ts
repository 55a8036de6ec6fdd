// The calls a kernel has open: one reply for each, cancelled when the cell lets go of them, bounded in number and size because a hostile cell chooses both.
import { BridgeError, messageOf } from '../errors.ts'
import type { CallFrame, ReplyError, ReplyFrame } from '../protocol/frames.ts'
import type { ReplyRoom } from './reply-room.ts'

/** Answers one call; whatever it throws becomes the reply's error. */
export type CallHandler = (call: CallFrame, signal: AbortSignal) => Promise<unknown>

const MAX_OPEN_CALLS = 10_000
/** Of the params of all open calls, as the decoder weighs frames. One call that weighs more may be open by itself. */
const MAX_OPEN_BYTES = 256 << 20

export class OpenCalls {
  readonly #open = new Map<number, AbortController>()
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
   * Hand a call to its handler and send the reply when there is one. Never rejects.
   * @param bytes what the call takes in memory
   */
  async answer(call: CallFrame, bytes: number, handler: CallHandler): Promise<void> {
    const { id } = call
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
    const controller = new AbortController()
    this.#open.set(id, controller)
    this.#openBytes += bytes
    const { signal } = controller
    const answered = this.#room.during(call.method, signal, () => handler(call, signal))
    const reply = await answered.then(
      (value): ReplyFrame => ({ type: 'reply', id, value: value ?? null }),
      (error: unknown): ReplyFrame => ({ type: 'reply', id, error: replyError(error) }),
    )
    this.#open.delete(id)
    this.#openBytes -= bytes
    if (!controller.signal.aborted) this.#reply(reply)
  }

  cancel(id: number): void {
    this.#open.get(id)?.abort()
  }

  cancelAll(): void {
    for (const controller of this.#open.values()) controller.abort()
  }

  #refuse(id: number, why: string): void {
    this.#reply({ type: 'reply', id, error: replyError(new BridgeError('PROXY_TOO_MANY_CALLS', why)) })
  }
}

/** An error as it may be shown inside the sandbox: the bridge's own errors whole, anything else by its message. */
export function replyError(error: unknown): ReplyError {
  if (!BridgeError.isInstance(error)) return { code: 'INTERNAL', message: messageOf(error) }
  const { code, message, hint, data } = error
  return { code, message, ...(hint && { hint }), ...(data !== undefined && { data }) }
}
