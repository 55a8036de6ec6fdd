// Starts sandboxes first come first served, and only as many at once as the machine can start without slowing all of
// them down. Each waiting start is told its place and, once a start was timed, about how long it will take.
import { availableParallelism } from 'node:os'
import { BridgeError, shuttingDown } from '../../errors.ts'

interface Waiting {
  begin: () => void
  fail: (error: BridgeError) => void
  onPlace: ((message: string) => void) | undefined
}

export interface QueueOptions {
  /** Leaves the queue when aborted. A start that has begun goes on. */
  signal?: AbortSignal | undefined
  onPlace?: ((message: string) => void) | undefined
}

/** Weight of a new measurement in the average start time. */
const WEIGHT = 0.3

export class StartQueue {
  #parallel: number
  #running = 0
  #waiting: Waiting[] = []
  #averageMs: number | undefined

  constructor(parallel = Math.max(2, availableParallelism())) {
    this.#parallel = parallel
  }

  /** Set how many starts may run at once, for sandboxes that start elsewhere and do not slow this machine down. */
  allow(parallel: number): void {
    if (parallel === this.#parallel) return
    this.#parallel = parallel
    // Each of these will increment `#running` itself.
    for (const { begin } of this.#waiting.splice(0, Math.max(0, parallel - this.#running))) begin()
  }

  get isBusy(): boolean {
    return this.#running >= this.#parallel
  }

  /** @throws BridgeError CANCELLED when `signal` ends the wait, SHUTTING_DOWN after `close`, and what `start` throws */
  async run<T>(start: () => Promise<T>, { signal, onPlace }: QueueOptions = {}): Promise<T> {
    if (this.isBusy) await this.#turn(signal, onPlace)
    this.#running += 1
    const began = performance.now()
    try {
      const result = await start()
      const tookMs = performance.now() - began
      this.#averageMs = this.#averageMs === undefined ? tookMs : (1 - WEIGHT) * this.#averageMs + WEIGHT * tookMs
      return result
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.begin()
      this.#tellPlaces()
    }
  }

  close(): void {
    for (const { fail } of this.#waiting) fail(shuttingDown())
    this.#waiting = []
  }

  #turn(signal: AbortSignal | undefined, onPlace: Waiting['onPlace']): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        waiting.fail(new BridgeError('CANCELLED', 'The cell was cancelled while it waited for a sandbox'))
        this.#tellPlaces()
      }
      const stopListening = () => signal?.removeEventListener('abort', leave)
      const waiting: Waiting = {
        begin: () => {
          stopListening()
          resolve()
        },
        fail: (error) => {
          stopListening()
          reject(error)
        },
        onPlace,
      }
      this.#waiting.push(waiting)
      if (signal?.aborted) leave()
      else signal?.addEventListener('abort', leave)
      this.#tellPlaces(this.#waiting.length - 1)
    })
  }

  #tellPlaces(from = 0): void {
    this.#waiting.slice(from).forEach(({ onPlace }, index) => {
      const place = from + index + 1
      const seconds = Math.ceil((Math.ceil(place / this.#parallel) * (this.#averageMs ?? 0)) / 1000)
      onPlace?.(`waiting for a sandbox: place ${place}${seconds > 0 ? `, about ${seconds} s` : ''}`)
    })
  }
}
