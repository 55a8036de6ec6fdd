// When a cron schedule is due. The library handles time zones: an hour that is skipped or repeated by a clock change gives one run. Pure.
import { Cron } from 'croner'
import { BridgeError } from '../../errors.ts'
import { parseCron } from './timer-entries.ts'

/** Maximum number of missed times that are reported. */
const MAX_TIMES = 1_000

/** The times after `since` and up to `now`, oldest first. */
export function timesBetween(when: string, zone: string, since: Date, now: Date): Date[] {
  const cron = new Cron(when, { timezone: zone })
  const times: Date[] = []
  for (let next = cron.nextRun(since); next !== null && next <= now; next = cron.nextRun(next)) {
    times.push(next)
    if (times.length > MAX_TIMES) times.shift()
  }
  return times
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID when it is invalid or never due */
export function nextTime(when: string, zone: string, now: Date): Date {
  parseCron(when)
  const next = new Cron(when, { timezone: zone }).nextRun(now)
  if (next) return next
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${when}' never comes`, { hint: 'Check the day and the month.' })
}
