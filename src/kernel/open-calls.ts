// The calls a kernel has open: one reply for each, cancelled when the cell lets go of them, bounded in number because a hostile cell chooses it.
import { BridgeError, messageOf } from '../errors.ts'
import type { CallFrame, ReplyError, ReplyFrame } from '../protocol/frames.ts'

/** Answers one call; whatever it throws becomes the reply's error. */
export type CallHandler = (call: CallFrame, signal: AbortSignal) => Promise<unknown>

const MAX_OPEN_CALLS = 10_000

export class OpenCalls {
  readonly #open = new Map<number, AbortController>()
  readonly #reply: (frame: ReplyFrame) => void

  constructor(reply: (frame: ReplyFrame) => void) {
    this.#reply = reply
  }

  get count(): number {
    return this.#open.size
  }

  /** Hand a call to its handler and send the reply when there is one. Never rejects. */
  async answer(call: CallFrame, handler: CallHandler): Promise<void> {
    const { id } = call
    // A reused id is dropped without a reply: the reply to it would be taken for the first call's.
    if (this.#open.has(id)) return
    if (this.#open.size >= MAX_OPEN_CALLS) {
      const error = new BridgeError('PROXY_TOO_MANY_CALLS', `More than ${MAX_OPEN_CALLS} calls are open at once`)
      this.#reply({ type: 'reply', id, error: replyError(error) })
      return
    }
    const controller = new AbortController()
    this.#open.set(id, controller)
    const reply = await handler(call, controller.signal).then(
      (value): ReplyFrame => ({ type: 'reply', id, value: value ?? null }),
      (error: unknown): ReplyFrame => ({ type: 'reply', id, error: replyError(error) }),
    )
    this.#open.delete(id)
    if (!controller.signal.aborted) this.#reply(reply)
  }

  cancel(id: number): void {
    this.#open.get(id)?.abort()
  }

  cancelAll(): void {
    for (const controller of this.#open.values()) controller.abort()
  }
}

/** An error as it may be shown inside the sandbox: the bridge's own errors whole, anything else by its message. */
export function replyError(error: unknown): ReplyError {
  if (!BridgeError.isInstance(error)) return { code: 'INTERNAL', message: messageOf(error) }
  const { code, message, hint, data } = error
  return { code, message, ...(hint && { hint }), ...(data !== undefined && { data }) }
}
