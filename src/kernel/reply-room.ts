// How much of what the bridge has to say to one kernel may lie unread. A call that can have a large answer is begun only when there is room for it,
// so that a cell that asks and never reads cannot fill the bridge's memory.
import type { Writable } from 'node:stream'
import type { Cancellation } from '../process/cancellation.ts'

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

  /** Room for the answer to a method, in bytes; undefined when there is no room, and the call has to wait for its `turn`. */
  reserve(method: string): number | undefined {
    const bytes = expectedBytes(method)
    if (this.#waiting.size > 0 || !this.#fits(bytes)) return undefined
    this.#reservedBytes += bytes
    return bytes
  }

  /** The same when there is room, in the order of asking. @throws the reason of `cancellation` when that comes first */
  turn(method: string, cancellation: Cancellation): Promise<number> {
    return new Promise((resolve, reject) => {
      const bytes = expectedBytes(method)
      const giveUp = (): void => {
        this.#waiting.delete(waiter)
        reject(cancellation.reason)
      }
      const waiter: Waiter = {
        bytes,
        enter: () => {
          cancellation.removeEventListener('abort', giveUp)
          resolve(bytes)
        },
      }
      cancellation.addEventListener('abort', giveUp)
      this.#waiting.add(waiter)
    })
  }

  /** Once the answer has been sent. */
  release(bytes: number): void {
    this.#reservedBytes -= bytes
    // When what was sent in this turn of the event loop has been written, so that it counts.
    if (this.#waiting.size > 0) setImmediate(() => this.#admit())
  }

  #fits(bytes: number): boolean {
    const taken = this.unreadBytes + this.#reservedBytes
    return taken === 0 || taken + bytes <= MAX_BYTES
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

function expectedBytes(method: string): number {
  return EXPECTED_BYTES.get(method) ?? OTHER_EXPECTED_BYTES
}
