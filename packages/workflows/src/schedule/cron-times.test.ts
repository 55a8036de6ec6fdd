import { expect, it } from 'vitest'
import { nextTime, timesBetween } from './cron-times.ts'

const NOW = new Date('2026-11-24T12:00:00Z')

it.each([
  '',
  '* * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '5-1 * * * *',
  '*/0 * * * *',
  'x * * * *',
  '* * * * * *',
])('a time that no schedule can have is refused, with an example of one: %j', (when) => {
  expect(() => nextTime(when, 'UTC', NOW)).toThrow(
    expect.objectContaining({ code: 'TOOL_ARGUMENTS_INVALID', hint: expect.stringContaining('"0 8 * * 1"') as string }),
  )
})

it.each([
  ['0 0 32 * *', 32],
  ['0 0 0 * *', 0],
  ['0 0 1 13 *', 13],
  ['0 0 * * 8', 8],
])('a number that is wrong is quoted as written: %s', (when, number) => {
  expect(() => nextTime(when, 'UTC', NOW)).toThrow(new RegExp(`Invalid value for \\w+: ${number}$`))
})

it('a schedule is in the zone of its user, and one that never comes is refused', () => {
  expect(nextTime('0 8 * * mon', 'Europe/Berlin', NOW).toISOString()).toBe('2026-11-30T07:00:00.000Z')
  expect(() => nextTime('0 0 30 2 *', 'UTC', NOW)).toThrow('never comes')
})

it.each([
  ['* * * * *', 'Europe/Berlin', '2026-03-29T03:00:00Z'],
  ['* * * * *', 'Europe/Berlin', '2026-10-25T03:00:00Z'],
  ['*/5 * * * *', 'America/New_York', '2026-11-01T09:00:00Z'],
  ['* * * * *', 'UTC', '2026-11-01T09:00:00.001Z'],
  ['* * * * *', 'UTC', '2026-11-01T08:59:59.999Z'],
  ['*/30 * * * *', 'Australia/Lord_Howe', '2026-10-04T00:00:00Z'],
])('of many times, the newest are found, also where the clocks change: %s %s', (when, zone, end) => {
  const now = new Date(end)
  const since = new Date(now.getTime() - 86_400_000)
  // The control: in pieces, no limit is reached.
  const all = Array.from({ length: 24 }, (_, index) => new Date(since.getTime() + index * 3_600_000)).flatMap((hour) =>
    timesBetween(when, zone, hour, new Date(hour.getTime() + 3_600_000)),
  )
  const found = timesBetween(when, zone, since, now)
  expect(found).toEqual(all.slice(-found.length))
  expect(found.length).toBe(Math.min(all.length, 200))
})

/** What the clock of a zone shows at each minute. */
function wallsOf(zone: string, from: number, to: number): number[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const wallOf = (at: number): number => {
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
    const number = (name: string) => Number(part[name])
    return Date.UTC(number('year'), number('month') - 1, number('day'), number('hour'), number('minute'))
  }
  return Array.from({ length: (to - from) / 60_000 + 1 }, (_, minute) => wallOf(from + minute * 60_000))
}

/** A second implementation: looks at every minute, with fields of its own. */
function byMinute(when: string, walls: readonly number[], from: number): string[] {
  const fields = when.split(' ')
  const fits = (field: string, value: number, min: number, max: number): boolean =>
    field.split(',').some((one) => {
      const [range = '', step = '1'] = one.split('/')
      const [low, high = low] = range === '*' ? [min, max] : range.split('-').map(Number)
      return value >= low! && value <= high! && (value - low!) % Number(step) === 0
    })
  const isDue = (wall: number): boolean => {
    const date = new Date(wall)
    const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string]
    if (!fits(minute, date.getUTCMinutes(), 0, 59) || !fits(hour, date.getUTCHours(), 0, 23)) return false
    if (!fits(month, date.getUTCMonth() + 1, 1, 12)) return false
    const isDay = fits(day, date.getUTCDate(), 1, 31)
    const isWeekday = fits(weekday, date.getUTCDay(), 0, 6)
    const both = day.startsWith('*') || weekday.startsWith('*')
    return both ? isDay && isWeekday : isDay || isWeekday
  }
  const due: string[] = []
  const done = new Set<number>()
  for (const [minute, wall] of walls.entries()) {
    const last = walls[minute - 1] ?? wall - 60_000
    const leftOut = Array.from({ length: Math.max(0, (wall - last) / 60_000 - 1) }, (_, n) => last + (n + 1) * 60_000)
    const isMadeUp = fields[1] !== '*' && leftOut.some(isDue)
    const isAgain = fields[1] !== '*' && done.has(wall)
    if ((isDue(wall) && !isAgain) || isMadeUp) due.push(new Date(from + minute * 60_000).toISOString())
    done.add(wall)
  }
  return due
}

/** With an hour, half an hour or two that is left out or repeated, some at midnight, and a day that was left out. */
const ZONES: [zone: string, changes: string[]][] = [
  ['Europe/Berlin', ['2026-10-25', '2027-03-28']],
  ['America/Santiago', ['2026-09-06', '2027-04-04']],
  ['Australia/Lord_Howe', ['2026-10-04', '2027-04-04']],
  ['Africa/Casablanca', ['2027-02-07', '2027-03-14']],
  ['Atlantic/Azores', ['2026-10-25', '2027-03-28']],
  ['Antarctica/Troll', ['2026-10-25', '2027-03-28']],
  ['Pacific/Apia', ['2011-12-30']],
  ['Asia/Kathmandu', ['2027-01-01']],
]
const WHENS = [
  '0,30 2 * * *',
  '*/30 2 * * *',
  '15,45 1-3 * * *',
  '30 1,2 * * *',
  '30 */2 * * *',
  '0 0 * * *',
  '0,30 0 * * *',
  '*/7 * * * *',
  '59 * * * *',
  '*/15 0-4 * * 0',
  '5 3 */2 * 1',
  '10 1 1,28 * 0',
]

it.each(ZONES)(
  'a second implementation finds the same times around the changes of the clocks in %s',
  (zone, changes) => {
    for (const change of changes) {
      const from = Date.parse(`${change}T00:00:00Z`) - 0.75 * 86_400_000
      const to = from + 1.75 * 86_400_000
      const walls = wallsOf(zone, from + 60_000, to)
      for (const when of WHENS) {
        const found: string[] = []
        // One of these begins in the hour that Berlin repeats.
        for (let hour = from; hour < to; hour += 6.5 * 3_600_000) {
          const end = Math.min(to, hour + 6.5 * 3_600_000)
          found.push(...timesBetween(when, zone, new Date(hour), new Date(end)).map((time) => time.toISOString()))
        }
        expect(found, `${when} around ${change}`).toEqual(byMinute(when, walls, from + 60_000))
      }
    }
  },
)

it.each([
  ['0 8 */2 * 1', ['2026-12-07', '2026-12-21', '2027-01-11', '2027-01-25', '2027-02-01']],
  ['0 8 1,15 * 1', ['2026-11-30', '2026-12-01', '2026-12-07', '2026-12-14', '2026-12-15']],
  ['0 8 * * 1-5', ['2026-11-25', '2026-11-26', '2026-11-27', '2026-11-30', '2026-12-01']],
  ['0 8 31 * *', ['2026-12-31', '2027-01-31', '2027-03-31', '2027-05-31', '2027-07-31']],
  ['0 8 29 2 *', ['2028-02-29', '2032-02-29', '2036-02-29', '2040-02-29', '2044-02-29']],
])('the next five runs of %s are those of cron', (when, days) => {
  let now = NOW
  const next = days.map(() => (now = nextTime(when, 'UTC', now)).toISOString())
  expect(next).toEqual(days.map((day) => `${day}T08:00:00.000Z`))
})
