// How much of what the bridge has to say to one kernel may lie unread. A call that can have a large answer is begun only when there is room for it,
// so that a cell that asks and never reads cannot fill the bridge's memory.
import type { Writable } from 'node:stream'

/** Answers that are on their way or being made. A legal frame is larger: it goes alone. */
const MAX_BYTES = 32 << 20
/** Above this, an answer is replaced by an error. Servers decide how large their answers are, and they come when they come. */
export const MAX_UNREAD_BYTES = 128 << 20
/** Above this, even errors lie unread: the kernel asks on and on without reading, and is ended. */
export const MAX_KEPT_BYTES = MAX_UNREAD_BYTES + (8 << 20)

/** What an answer to a method may come to. What is asked of servers is bounded by what lies unread only: ten thousand such calls may be open. */
const EXPECTED_BYTES = new Map([
  ['call_tool', 2 << 10],
  ['open_artifact', 6 << 20],
  ['output', 1 << 20],
])
const OTHER_EXPECTED_BYTES = 256 << 10

interface Waiter {
  bytes: number
  enter: () => void
}

export class ReplyRoom {
  readonly #pipe: Writable
  readonly #waiting = new Set<Waiter>()
  #reservedBytes = 0

  constructor(pipe: Writable) {
    this.#pipe = pipe
    pipe.on('drain', () => this.#admit())
  }

  /** Bytes that were sent and not yet taken by the sandbox. */
  get unreadBytes(): number {
    return this.#pipe.writableLength
  }

  /**
   * Do `work` when there is room for its answer, in the order of asking. When `signal` aborts before that, it is never begun.
   * @throws what `work` throws, or the signal's reason
   */
  async during<T>(method: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const bytes = EXPECTED_BYTES.get(method) ?? OTHER_EXPECTED_BYTES
    if (this.#waiting.size === 0 && this.#fits(bytes)) this.#reservedBytes += bytes
    else await this.#turn(bytes, signal)
    try {
      return await work()
    } finally {
      this.#reservedBytes -= bytes
      // Once the answer has been sent, so that it counts.
      setImmediate(() => this.#admit())
    }
  }

  #fits(bytes: number): boolean {
    const taken = this.unreadBytes + this.#reservedBytes
    return taken === 0 || taken + bytes <= MAX_BYTES
  }

  #turn(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(waiter)
        reject(signal.reason as Error)
      }
      const waiter: Waiter = {
        bytes,
        enter: () => {
          signal.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.add(waiter)
    })
  }

  #admit(): void {
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter.bytes)) return
      this.#reservedBytes += waiter.bytes
      this.#waiting.delete(waiter)
      waiter.enter()
    }
  }
}
