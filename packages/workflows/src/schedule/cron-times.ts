// When a cron schedule is due. The library reads the fields, without time zones. A time that the clocks repeat counts
// once; one that they leave out is due when they go on. Hourly schedules go by the hours that pass. Pure.
import { Cron } from 'croner'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import { changeBetween, momentOf, wallAt } from './wall-clock.ts'

/** Maximum number of times that are counted: each takes a part of a millisecond, in which the bridge stands still. */
export const MAX_TIMES = 200
const HOUR_MS = 60 * 60_000

/** The times after `since` and up to `now`, oldest first. Of more than MAX_TIMES, the newest. */
export function timesBetween(when: string, zone: string, since: Date, now: Date): Date[] {
  const after = nextOf(when, zone)
  for (let back = HOUR_MS; ; back *= 2) {
    const from = Math.max(since.getTime(), now.getTime() - back)
    const times: Date[] = []
    for (let next = after(from); next !== undefined && next <= now.getTime(); next = after(next))
      times.push(new Date(next))
    if (times.length >= MAX_TIMES || from === since.getTime()) return times.slice(-MAX_TIMES)
  }
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID when it is invalid or never due */
export function nextTime(when: string, zone: string, now: Date): Date {
  const next = nextOf(when, zone)(now.getTime())
  if (next !== undefined) return new Date(next)
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${when}' never comes`, { hint: 'Check the day and the month.' })
}

/** @returns a function that gives the first due moment after another one */
function nextOf(when: string, zone: string): (moment: number) => number | undefined {
  const cron = read(when)
  const wallAfter = (wall: number): number | undefined => cron.nextRun(new Date(wall))?.getTime()
  const isHourly = /^(\*|0-23)(\/1)?$/.test(when.trim().split(/\s+/)[1]!)
  return isHourly ? (moment) => nextHourly(moment, zone, wallAfter) : (moment) => nextFixed(moment, zone, wallAfter)
}

type WallAfter = (wall: number) => number | undefined

function nextFixed(moment: number, zone: string, wallAfter: WallAfter): number | undefined {
  let wall = wallAfter(wallAt(moment, zone))
  // When clocks are set back, skip the times of the first pass through the repeated hour.
  while (wall !== undefined && momentOf(wall, zone) <= moment) wall = wallAfter(wall)
  // The clock may be before a gap that hides an earlier time of this schedule: `momentOf` gives the end of the gap.
  return wall === undefined ? undefined : momentOf(wall, zone)
}

function nextHourly(moment: number, zone: string, wallAfter: WallAfter): number | undefined {
  const shift = wallAt(moment, zone) - moment
  const wall = wallAfter(moment + shift)
  if (wall === undefined) return undefined
  const next = wall - shift
  if (wallAt(next, zone) === wall) return next
  // The clocks change before it. At that moment already, the new time may be due.
  const change = changeBetween(moment, next, zone)
  const due = wallAfter(wallAt(change, zone) - 1_000)
  return due === undefined ? undefined : due - (wallAt(change, zone) - change)
}

function read(when: string): Cron {
  try {
    const [, , day = '', , weekday = ''] = when.trim().split(/\s+/)
    // As in Vixie's cron: a day beginning with `*` and a weekday must both be right; two lists are alternatives.
    const domAndDow = day.startsWith('*') || weekday.startsWith('*')
    return new Cron(when, { timezone: 'UTC', mode: '5-part', domAndDow })
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
