// Decides whether an upstream that failed may be tried again yet. After a few failures in a row it is left alone for longer and longer; then one
// use of it is the half-open probe, and the others wait for what comes of that. Knows nothing of connections.
import { BridgeError } from '../../errors.ts'

/** Failures that have no consequence: someone is at work on the definition, or a process had a bad moment. */
const FREE_FAILURES = 2
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 5 * 60_000
/** A server cannot make us wait longer than this. */
const MAX_RETRY_AFTER_MS = 60 * 60_000
/** A probe that takes longer may be a slow call of a healthy server: the next use is let through beside it. */
const MAX_PROBE_MS = 10_000

export interface CircuitOptions {
  server: string
  /** Milliseconds on any clock that never goes back. */
  now: () => number
  /** From 0 to 1: spreads the probes of many bridges. */
  random: () => number
}

export class Circuit {
  readonly #options: CircuitOptions
  #failures = 0
  #generation = 0
  /** 0 unless there was a wait since the last success. */
  #closedUntil = 0
  #reason = ''
  #halfOpenProbe: { over: Promise<void>; end: () => void } | undefined

  constructor(options: CircuitOptions) {
    this.#options = options
  }

  /**
   * Changes with every failure that counts. What began in an earlier generation says nothing new: forty calls that fail together are one failure,
   * and a late answer to a call from before does not mean that the server is back.
   */
  get generation(): number {
    return this.#generation
  }

  /** Resolves when the current half-open probe is over; undefined without a probe. Await it before `enter`. */
  get halfOpenProbe(): Promise<void> | undefined {
    return this.#halfOpenProbe?.over
  }

  /**
   * @returns what to call when the use is over, whatever came of it
   * @throws BridgeError UPSTREAM_UNREACHABLE when it is not time yet
   */
  enter(): () => void {
    const waitMs = this.#closedUntil - this.#options.now()
    if (waitMs <= 0) return this.#closedUntil === 0 ? () => {} : this.#beginProbe()
    const seconds = Math.ceil(waitMs / 1000)
    throw new BridgeError(
      'UPSTREAM_UNREACHABLE',
      `Server '${this.#options.server}' is paused for ${seconds} s after repeated failures. Last one: ${this.#reason}`,
      { hint: `Retry in ${seconds} s.`, data: { retryAfterMs: waitMs } },
    )
  }

  /** @param since the generation in which what succeeded began */
  succeeded(since: number): void {
    if (since !== this.#generation) return
    this.#failures = 0
    this.#closedUntil = 0
    this.#halfOpenProbe?.end()
  }

  /**
   * @param since the generation in which what failed began
   * @param retryAfterMs what the server asked for, when it did
   */
  failed(error: Error, since: number, retryAfterMs = 0): void {
    let backoffMs = 0
    if (since === this.#generation) {
      this.#generation += 1
      this.#failures += 1
      this.#reason = error.message
      const exponent = this.#failures - FREE_FAILURES - 1
      const jitter = 0.8 + 0.4 * this.#options.random()
      if (exponent >= 0) backoffMs = Math.round(Math.min(FIRST_WAIT_MS * 2 ** exponent, MAX_WAIT_MS) * jitter)
    }
    const waitMs = Math.max(backoffMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS))
    if (waitMs > 0) this.#closedUntil = Math.max(this.#closedUntil, this.#options.now() + waitMs)
  }

  #beginProbe(): () => void {
    let resolve = (): void => {}
    const over = new Promise<void>((done) => (resolve = done))
    const end = (): void => {
      clearTimeout(timer)
      if (this.#halfOpenProbe?.over === over) this.#halfOpenProbe = undefined
      resolve()
    }
    const timer = setTimeout(end, MAX_PROBE_MS).unref()
    this.#halfOpenProbe = { over, end }
    return end
  }
}
