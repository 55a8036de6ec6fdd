// Whether an upstream that failed may be used again. After failures in a row the pauses get longer; after each, one use
// is the half-open probe, and the others wait for its result.
import { BridgeError } from '../../errors.ts'

/** Failures without a pause: the definition is being edited, or a process failed once. */
const FREE_FAILURES = 2
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 5 * 60_000
/** Longest pause that a server can request. */
const MAX_RETRY_AFTER_MS = 60 * 60_000
/** A longer probe may be a slow call of a healthy server, so the next use is allowed beside it. */
const MAX_PROBE_MS = 10_000

export interface CircuitOptions {
  server: string
  /** Milliseconds of a monotonic clock. */
  now: () => number
  /** From 0 to 1: spreads the probes of many bridges. */
  random: () => number
}

export class Circuit {
  readonly #options: CircuitOptions
  #failures = 0
  /**
   * Changes with every counted failure. Results of uses that began in an earlier generation are ignored: forty calls
   * that fail together are one failure, and a late response to an earlier call does not prove that the server is back.
   */
  generation = 0
  /** 0 when there was no pause since the last success. */
  #closedUntil = 0
  #reason = ''
  #halfOpenProbe: { over: Promise<void>; end: () => void } | undefined

  constructor(options: CircuitOptions) {
    this.#options = options
  }

  /** Resolves when the current half-open probe is over; undefined without a probe. Await it before `enter`. */
  get halfOpenProbe(): Promise<void> | undefined {
    return this.#halfOpenProbe?.over
  }

  /** @returns a function to call when the use is over @throws BridgeError UPSTREAM_UNREACHABLE during a pause */
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

  /** @param since the generation in which the successful use began */
  succeeded(since: number): void {
    if (since !== this.generation) return
    this.#failures = 0
    this.#closedUntil = 0
    this.#halfOpenProbe?.end()
  }

  /** @param since the generation in which the failed use began @param retryAfterMs the server's wait, if any */
  failed(error: Error, since: number, retryAfterMs = 0): void {
    let backoffMs = 0
    if (since === this.generation) {
      this.generation += 1
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
