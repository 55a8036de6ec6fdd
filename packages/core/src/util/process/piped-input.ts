// Tells input that ends with what it brought, as of `printf … | sandbridge`, from that of a client that hangs up later:
// the first waits for its answers.
import type { Writable } from 'node:stream'

const AT_ONCE_MS = 100
const LOOK_MS = 500

export class PipedInput {
  readonly #parent = process.ppid
  #isFresh = false
  #timer: NodeJS.Timeout | undefined

  /** Input has come. */
  heard(): void {
    this.#isFresh = true
    clearTimeout(this.#timer)
    // A process that is late still reads what is in the pipe: between timers and immediates.
    this.#timer = setTimeout(() => setImmediate(() => (this.#isFresh = false)), AT_ONCE_MS).unref()
  }

  /**
   * The input is over.
   * @param onLeft the client that waits has died
   * @returns whether it waits. Its end may also show as an error of the output
   */
  waits(output: Writable, onLeft: () => void): boolean {
    clearTimeout(this.#timer)
    if (!this.#isFresh) return false
    setInterval(() => {
      if (process.ppid !== this.#parent) onLeft()
      // Fails on a socket without a reader. On Windows a reader would take it for the end.
      else if (process.platform !== 'win32') output.write('')
    }, LOOK_MS).unref()
    return true
  }
}
