// How many kernels should wait: twice as many as are taken during one start, within bounds. Pure.

export interface PoolBounds {
  min: number
  max: number
}

/** Decay time: a kernel taken this long ago counts about a third of one taken now. */
const MEMORY_MS = 30_000
/** Weight of a new measurement in the average start time. */
const WEIGHT = 0.3
/** Factor for sessions that arrive at the same moment by chance. */
const SPARE = 2

export class PoolSize {
  readonly min: number
  readonly #max: number
  /** Decayed count of kernels taken. */
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

  /** A kernel became ready `tookMs` after it was wanted. */
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
