// Counts calls for rules that limit them per cell, session and hour. Pure.
import type { Limits, Rule } from '@sandbridge/core/config/rules'

const HOUR_MS = 3_600_000

/** Calls counted for one cell or one session, by rule. */
export type Counts = Map<string, number>

/** Times of calls in the last hour, by rule. */
export type Hours = Map<string, number[]>

export interface LimitReached {
  rule: Rule
  limit: keyof Limits
  most: number
  /** Milliseconds until another call is possible, for an hourly limit. */
  waitMs?: number
}

/**
 * Counts a call, unless a rule's limit is reached.
 * @param hours of all sessions, clients and commands of a person
 * @param now milliseconds since 1970
 */
export function takeCall(
  rules: readonly Rule[],
  { cell, session, hours }: { cell: Counts; session: Counts; hours: Hours },
  now: number,
): LimitReached | undefined {
  for (const rule of rules) {
    const { perCell = Infinity, perSession = Infinity, perHour = Infinity } = rule.limits ?? {}
    const key = keyOf(rule)
    if ((cell.get(key) ?? 0) >= perCell) return { rule, limit: 'perCell', most: perCell }
    if ((session.get(key) ?? 0) >= perSession) return { rule, limit: 'perSession', most: perSession }
    const times = lastHour(hours, key, now)
    if (times.length < perHour) continue
    return { rule, limit: 'perHour', most: perHour, waitMs: (times[times.length - perHour] ?? now) + HOUR_MS - now }
  }
  // Two rules with the same text have one count, to which a call adds one.
  for (const [key, rule] of new Map(rules.map((one) => [keyOf(one), one]))) {
    cell.set(key, (cell.get(key) ?? 0) + 1)
    session.set(key, (session.get(key) ?? 0) + 1)
    if (rule.limits?.perHour !== undefined) hours.set(key, [...lastHour(hours, key, now), now])
  }
  return undefined
}

/** A call that seems to come from later was made before the clock was set back. */
function lastHour(hours: Hours, key: string, now: number): number[] {
  return (hours.get(key) ?? []).filter((at) => Math.abs(now - at) < HOUR_MS)
}

/** Stays the same when the rule's file is read again. */
function keyOf({ verdict, text, origin }: Rule): string {
  return `${origin.file}\n${origin.server ?? ''}\n${verdict} ${text}`
}
