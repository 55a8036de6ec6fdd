// How much of something was used up in the last hour, by the minute: what was used counts for 60 minutes, and until its minute is over. Pure.

const MINUTE_MS = 60_000
const MINUTES = 60

export class HourlyBudget {
  readonly #most: number
  /** By minute, the oldest first. */
  readonly #used = new Map<number, number>()

  /** @param most in an hour */
  constructor(most: number) {
    this.#most = most
  }

  /** @param now milliseconds of a monotonic clock */
  spend(amount: number, now: number): void {
    const minute = Math.floor(now / MINUTE_MS)
    this.#used.set(minute, (this.#used.get(minute) ?? 0) + amount)
  }

  /** Milliseconds until something can be spent again; 0 when it can be now. */
  waitMs(now: number): number {
    let total = 0
    for (const [minute, amount] of this.#used) {
      if (endOf(minute) <= now) this.#used.delete(minute)
      else total += amount
    }
    for (const [minute, amount] of this.#used) {
      if (total < this.#most) break
      total -= amount
      if (total < this.#most) return endOf(minute) - now
    }
    return 0
  }
}

/** When what was used in a minute does not count any more. */
function endOf(minute: number): number {
  return (minute + 1 + MINUTES) * MINUTE_MS
}
