// When a cron schedule is due. The library handles time zones: an hour that is skipped or repeated by a clock change
// gives one run. Pure.
import { Cron } from 'croner'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'

/** Maximum number of times that are counted: each takes a part of a millisecond, in which the bridge stands still. */
export const MAX_TIMES = 200

/** The times after `since` and up to `now`, oldest first. Of more than MAX_TIMES, the newest. */
export function timesBetween(when: string, zone: string, since: Date, now: Date): Date[] {
  const cron = read(when, zone)
  const times: Date[] = []
  for (let next = cron.nextRun(since); next !== null && next <= now; next = cron.nextRun(next)) {
    // Counted from the other end, `now` included.
    if (times.length === MAX_TIMES) return cron.previousRuns(MAX_TIMES, new Date(now.getTime() + 1)).toReversed()
    times.push(next)
  }
  return times
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID when it is invalid or never due */
export function nextTime(when: string, zone: string, now: Date): Date {
  const next = read(when, zone).nextRun(now)
  if (next) return next
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${when}' never comes`, { hint: 'Check the day and the month.' })
}

function read(when: string, zone: string): Cron {
  try {
    return new Cron(when, { timezone: zone, mode: '5-part' })
  } catch (error) {
    const why = messageOf(error)
      .replace(/^CronPattern: /, '')
      .slice(0, 200)
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${when.slice(0, 80)}' is not a time for a schedule: ${why}`, {
      hint: 'For example: "0 8 * * 1" for Mondays at eight.',
    })
  }
}
