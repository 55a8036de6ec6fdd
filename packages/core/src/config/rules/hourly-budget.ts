// Counts use in the last hour: an amount counts until 60 minutes after its minute has ended. Pure.

const MINUTE_MS = 60_000
const MINUTES = 60

export class HourlyBudget {
  readonly #most: number
  /** Amount by minute, oldest first. */
  readonly #used = new Map<number, number>()

  /** @param most the limit per hour */
  constructor(most: number) {
    this.#most = most
  }

  /** @param now milliseconds of a monotonic clock */
  spend(amount: number, now: number): void {
    const minute = Math.floor(now / MINUTE_MS)
    this.#used.set(minute, (this.#used.get(minute) ?? 0) + amount)
  }

  /** Milliseconds until more can be spent; 0 when that is possible now. */
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

/** When the amount of a minute stops counting. */
function endOf(minute: number): number {
  return (minute + 1 + MINUTES) * MINUTE_MS
}
