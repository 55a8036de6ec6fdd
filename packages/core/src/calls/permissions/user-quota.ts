// Limits what one user of a shared bridge may use per hour. Without a limit, nothing is counted.
import { BridgeError } from '../../errors.ts'

export interface QuotaLimits {
  /** Calls to servers per hour; missing means unlimited. */
  calls?: number | undefined
  /** Running time of cells per hour, in milliseconds. */
  cellMs?: number | undefined
}

export class UserQuota {
  readonly #limits: QuotaLimits
  readonly #calls: HourlyBudget | undefined
  readonly #cells: HourlyBudget | undefined

  constructor(limits: QuotaLimits) {
    this.#limits = limits
    this.#calls = limits.calls === undefined ? undefined : new HourlyBudget(limits.calls)
    this.#cells = limits.cellMs === undefined ? undefined : new HourlyBudget(limits.cellMs)
  }

  /** Counts a call. @throws BridgeError QUOTA_EXCEEDED when the limit is reached */
  takeCall(): void {
    if (!this.#calls) return
    const now = performance.now()
    const wait = this.#calls.waitMs(now)
    if (wait > 0)
      throw exceeded(
        `${this.#limits.calls} calls per hour`,
        wait,
        'the setting http.userCalls',
        'The call was not made',
      )
    this.#calls.spend(1, now)
  }

  /** @throws BridgeError QUOTA_EXCEEDED when no cell may start now */
  checkCells(): void {
    const wait = this.#cells?.waitMs(performance.now()) ?? 0
    if (wait === 0) return
    const seconds = (this.#limits.cellMs ?? 0) / 1000
    throw exceeded(`${seconds} s of cells per hour`, wait, 'the setting http.userSeconds', 'No code ran')
  }

  spendCell(ms: number): void {
    this.#cells?.spend(ms, performance.now())
  }
}

function exceeded(allowed: string, waitMs: number, setting: string, outcome: string): BridgeError {
  const at = new Date(Date.now() + waitMs).toISOString().replace(/:\d\d\.\d+Z$/, 'Z')
  return new BridgeError('QUOTA_EXCEEDED', `You have reached a limit for one user: ${allowed}. ${outcome}`, {
    hint: `Retry in ${Math.ceil(waitMs / 60_000)} min, after ${at}. The operator of the bridge sets ${setting}.`,
  })
}

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
