// Lets a few pieces of work run at once; the others wait for their turn, in order.
import type { Abortable } from './cancellation.ts'
import { untilAborted } from './wait.ts'

export class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Work whose signal aborts does not wait longer, and finds out by itself. */
  async run<T>(signal: Abortable | undefined, work: () => Promise<T>): Promise<T> {
    let hasTurn = this.#free > 0
    if (hasTurn) this.#free -= 1
    else {
      const turn = new Promise<void>((resolve) => this.#waiting.push(resolve))
      const own = this.#waiting.at(-1)!
      hasTurn = await untilAborted(turn, signal, () => new Error('aborted')).then(
        () => true,
        () => false,
      )
      // Its turn may have come meanwhile.
      const at = this.#waiting.indexOf(own)
      if (!hasTurn && at >= 0) this.#waiting.splice(at, 1)
      else hasTurn = true
    }
    try {
      return await work()
    } finally {
      if (hasTurn) this.#next()
    }
  }

  #next(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free += 1
  }
}
