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
  const since = new Date(now.getTime() - 4 * 86_400_000)
  // The control: in pieces, no limit is reached.
  const all = Array.from({ length: 96 }, (_, index) => new Date(since.getTime() + index * 3_600_000)).flatMap((hour) =>
    timesBetween(when, zone, hour, new Date(hour.getTime() + 3_600_000)),
  )
  const found = timesBetween(when, zone, since, now)
  expect(found).toEqual(all.slice(-found.length))
  expect(found.length).toBe(Math.min(all.length, 200))
})
