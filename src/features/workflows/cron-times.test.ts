import { expect, it } from 'vitest'
import { nextTime } from './cron-times.ts'

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
