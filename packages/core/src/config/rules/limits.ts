// Counts calls for rules that limit them per cell, session and hour. The hour is measured by the monotonic clock. Pure.
import type { Limits, Rule } from './rule.ts'

const HOUR_MS = 3_600_000

/** Calls counted for one cell or one session, by rule. */
export type Counts = Map<string, number>

export interface LimitReached {
  rule: Rule
  limit: keyof Limits
  most: number
  /** Milliseconds until another call is possible, for an hourly limit. */
  waitMs?: number
}

export class CallLimits {
  /** Times of calls in the last hour, by rule. */
  readonly #hours = new Map<string, number[]>()

  /**
   * Counts a call, unless a rule's limit is reached.
   * @param now milliseconds of a monotonic clock
   */
  take(rules: readonly Rule[], cell: Counts, session: Counts, now: number): LimitReached | undefined {
    for (const rule of rules) {
      const reached = this.#reached(rule, cell, session, now)
      if (reached) return reached
    }
    // Two rules with the same text have one count, to which a call adds one.
    for (const [key, rule] of new Map(rules.map((one) => [keyOf(one), one]))) {
      cell.set(key, (cell.get(key) ?? 0) + 1)
      session.set(key, (session.get(key) ?? 0) + 1)
      if (rule.limits?.perHour !== undefined) this.#hours.set(key, [...this.#lastHour(key, now), now])
    }
    return undefined
  }

  #reached(rule: Rule, cell: Counts, session: Counts, now: number): LimitReached | undefined {
    const { perCell, perSession, perHour } = rule.limits ?? {}
    const key = keyOf(rule)
    if (perCell !== undefined && (cell.get(key) ?? 0) >= perCell) return { rule, limit: 'perCell', most: perCell }
    if (perSession !== undefined && (session.get(key) ?? 0) >= perSession)
      return { rule, limit: 'perSession', most: perSession }
    if (perHour === undefined) return undefined
    const times = this.#lastHour(key, now)
    if (times.length < perHour) return undefined
    return { rule, limit: 'perHour', most: perHour, waitMs: (times[times.length - perHour] ?? now) + HOUR_MS - now }
  }

  #lastHour(key: string, now: number): number[] {
    return (this.#hours.get(key) ?? []).filter((at) => now - at < HOUR_MS)
  }
}

/** Stays the same when the rule's file is read again. */
function keyOf({ verdict, text, origin }: Rule): string {
  return `${origin.file}\n${origin.server ?? ''}\n${verdict} ${text}`
}
