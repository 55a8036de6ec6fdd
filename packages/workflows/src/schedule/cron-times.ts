// When a cron schedule is due, as in Vixie's cron: where the clocks change, a time that they repeat counts once, and one
// that they leave out is due when they go on. Schedules with `*` or steps go by the time that passes. Pure.
import { Cron } from 'croner'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'

/** Maximum number of times that are counted: each takes a part of a millisecond, in which the bridge stands still. */
export const MAX_TIMES = 200
const HOUR_MS = 60 * 60_000

/** The times after `since` and up to `now`, oldest first. Of more than MAX_TIMES, the newest. */
export function timesBetween(when: string, zone: string, since: Date, now: Date): Date[] {
  const cron = read(when, zone)
  for (let back = HOUR_MS; ; back *= 2) {
    const from = Math.max(since.getTime(), now.getTime() - back)
    const times: Date[] = []
    for (let next = cron.nextRun(new Date(from)); next && next <= now; next = cron.nextRun(next)) times.push(next)
    if (times.length >= MAX_TIMES || from === since.getTime()) return times.slice(-MAX_TIMES)
  }
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID when it is invalid or never due */
export function nextTime(when: string, zone: string, now: Date): Date {
  const next = read(when, zone).nextRun(now)
  if (next) return next
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${when}' never comes`, { hint: 'Check the day and the month.' })
}

function read(when: string, timezone: string): Cron {
  try {
    const [, , day = '', , weekday = ''] = when.trim().split(/\s+/)
    // As in Vixie's cron: a day beginning with `*` and a weekday must both be right; two lists are alternatives.
    const domAndDow = day.startsWith('*') || weekday.startsWith('*')
    return new Cron(when, { timezone, mode: '5-part', domAndDow, fixedTimeRule: 'no-wildcard' })
  } catch (error) {
    const why = messageOf(error)
      .replace(/^CronPattern: /, '')
      // The library counts days and months from 0.
      .replace(/(for (?:day|month): )(-?\d+)/, (_, what: string, number: string) => `${what}${Number(number) + 1}`)
      .slice(0, 200)
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${when.slice(0, 80)}' is not a time for a schedule: ${why}`, {
      hint: 'For example: "0 8 * * 1" for Mondays at eight.',
    })
  }
}
