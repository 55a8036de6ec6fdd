// How many sandboxes should wait: twice as many as are taken while one is started, within bounds. Nobody then waits for a start at a steady pace, and
// a quiet bridge keeps few. Pure: it is told the time.

export interface PoolBounds {
  min: number
  max: number
}

/** What was taken so long ago counts a third of what is taken now. */
const MEMORY_MS = 30_000
/** How much a new measurement of a start counts. */
const WEIGHT = 0.3
/** Those that come by chance at the same moment find one each. */
const SPARE = 2

export class PoolSize {
  readonly min: number
  readonly #max: number
  /** Each one that was taken, less by how long ago that was. */
  #taken = 0
  #countedAt = 0
  #startMs: number | undefined

  constructor({ min, max }: PoolBounds) {
    this.min = min
    this.#max = Math.max(min, max)
  }

  taken(now: number): void {
    this.#taken = this.#takenUntil(now) + 1
    this.#countedAt = now
  }

  /** One became ready, so long after it was wanted. */
  started(tookMs: number): void {
    this.#startMs = this.#startMs === undefined ? tookMs : (1 - WEIGHT) * this.#startMs + WEIGHT * tookMs
  }

  target(now: number): number {
    const perMs = this.#takenUntil(now) / MEMORY_MS
    return Math.min(this.#max, Math.max(this.min, Math.round(SPARE * perMs * (this.#startMs ?? 0))))
  }

  #takenUntil(now: number): number {
    return this.#taken * Math.exp((this.#countedAt - now) / MEMORY_MS)
  }
}
