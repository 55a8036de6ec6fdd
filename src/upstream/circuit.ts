// Decides whether an upstream that failed may be tried again yet. After a few failures in a row it is left alone for longer and longer;
// the first use after that is the trial. Knows nothing of connections.
import { BridgeError } from '../errors.ts'

/** Failures that have no consequence: someone is at work on the definition, or a process had a bad moment. */
const FREE_FAILURES = 2
const FIRST_WAIT_MS = 1000
const MAX_WAIT_MS = 5 * 60_000
/** A server cannot make us wait longer than this. */
const MAX_RETRY_AFTER_MS = 60 * 60_000

export interface CircuitOptions {
  server: string
  /** Milliseconds on any clock that never goes back. */
  now: () => number
  /** From 0 to 1: spreads the trials of many bridges. */
  random: () => number
}

export class Circuit {
  readonly #options: CircuitOptions
  #failures = 0
  #closedUntil = 0
  #reason = ''

  constructor(options: CircuitOptions) {
    this.#options = options
  }

  /** @throws BridgeError UPSTREAM_UNREACHABLE when it is not time yet. */
  check(): void {
    const waitMs = this.#closedUntil - this.#options.now()
    if (waitMs <= 0) return
    const seconds = Math.ceil(waitMs / 1000)
    throw new BridgeError(
      'UPSTREAM_UNREACHABLE',
      `Server '${this.#options.server}' is not tried again for another ${seconds} s. It failed before: ${this.#reason}`,
      { hint: `Wait ${seconds} s, or do without it.`, data: { retryAfterMs: waitMs } },
    )
  }

  succeeded(): void {
    this.#failures = 0
    this.#closedUntil = 0
  }

  /** @param retryAfterMs what the server asked for, when it did. */
  failed(error: Error, retryAfterMs = 0): void {
    this.#failures += 1
    this.#reason = error.message
    const exponent = this.#failures - FREE_FAILURES - 1
    const backoffMs = exponent < 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** exponent, MAX_WAIT_MS)
    const jitter = 0.8 + 0.4 * this.#options.random()
    const waitMs = Math.max(Math.round(backoffMs * jitter), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS))
    if (waitMs > 0) this.#closedUntil = this.#options.now() + waitMs
  }
}
