// The time limit of a cell. It pauses while the user answers a question, up to a limit.

/** Longest total pause. */
export const MAX_PAUSE_MS = 10 * 60_000

export class TimeLimit {
  #leftMs: number
  #pauseLeftMs = MAX_PAUSE_MS
  #pauses = 0
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #onExpire: (() => void) | undefined

  constructor(ms: number) {
    this.#leftMs = ms
  }

  /** Start the clock. Calls `onExpire` once, unless `stop` comes first. */
  start(onExpire: () => void): void {
    this.#onExpire = onExpire
    // A server that starts beside the sandbox may have asked a question already.
    this.#wait(this.#pauses > 0 ? this.#pauseLeftMs : this.#leftMs)
  }

  stop(): void {
    this.#onExpire = undefined
    clearTimeout(this.#timer)
  }

  get isPaused(): boolean {
    return this.#pauses > 0
  }

  /** Pauses nest: each is ended by one `resume`. */
  pause(): void {
    this.#pauses += 1
    if (this.#pauses > 1 || !this.#onExpire) return
    this.#leftMs -= performance.now() - this.#since
    this.#wait(this.#pauseLeftMs)
  }

  resume(): void {
    this.#pauses -= 1
    if (this.#pauses > 0 || !this.#onExpire) return
    this.#pauseLeftMs -= performance.now() - this.#since
    this.#wait(this.#leftMs)
  }

  /** Pauses while some work goes on, such as waiting for a person. */
  async hold<T>(work: Promise<T>): Promise<T> {
    this.pause()
    try {
      return await work
    } finally {
      this.resume()
    }
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer)
    this.#since = performance.now()
    this.#timer = setTimeout(() => this.#onExpire?.(), Math.max(ms, 0))
  }
}
