// Limits how many bytes of replies to one kernel may be unread. A call that may have a large reply starts only when
// there is room for it, so that a cell that calls without reading cannot exhaust the bridge's memory.
import type { Writable } from 'node:stream'
import type { Cancellation } from '../../util/async/cancellation.ts'

/** Limit for replies being made or unread. A single larger reply is admitted when nothing else is unread. */
const MAX_BYTES = 32 << 20
/** Above this, an error replaces a reply. Servers choose the size of their replies, and the moment they arrive. */
export const MAX_UNREAD_BYTES = 128 << 20
/** Above this, errors too remain unread: the kernel keeps calling without reading, and is killed. */
export const MAX_KEPT_BYTES = MAX_UNREAD_BYTES + (8 << 20)

/** Expected size of a reply, by method. `call_tool` counts little: the unread limit bounds its replies. */
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

  /** Bytes written but not yet read by the sandbox. */
  get unreadBytes(): number {
    return this.#pipe.writableLength
  }

  /** Reserves room for a method's reply. @returns its bytes; undefined without room: the call must await `turn` */
  reserve(method: string): number | undefined {
    const bytes = expectedBytes(method)
    if (this.#waiting.size > 0 || !this.#fits(bytes)) return undefined
    this.#reservedBytes += bytes
    return bytes
  }

  /** Like `reserve`, but waits, first come first served. @throws the reason of `cancellation` */
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

  /** Give back reserved room, after the reply was sent. */
  release(bytes: number): void {
    this.#reservedBytes -= bytes
    // After the replies sent in this turn of the event loop are written, so that they count as unread.
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
