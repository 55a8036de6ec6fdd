import { expect, it } from 'vitest'
import { machineZone, namedZone } from './time-zone.ts'

it.each([
  ['GMT+2', /For example|Did you mean/],
  ['+05:30', /For example/],
  ['Berlin', /Did you mean Europe\/Berlin\?/],
  ['new york', /America\/New_York/],
  ['Europe/Belrin', /Europe\/Berlin/],
  ['Etc/Unknown', /For example|Did you mean/],
])('the zone %s is refused, with zones that may be meant', (zone, hint) => {
  expect(() => namedZone(zone)).toThrow(
    expect.objectContaining({ code: 'TOOL_ARGUMENTS_INVALID', hint: expect.stringMatching(hint) as string }),
  )
})

it.each([
  ['Europe/Berlin', 'Europe/Berlin'],
  ['europe/berlin', 'Europe/Berlin'],
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['Asia/Calcutta', 'Asia/Calcutta'],
  ['UTC', 'UTC'],
])('a zone is shown as its user writes it: %s', (given, shown) => {
  expect(namedZone(given)).toBe(shown)
})

it('the zone of this machine has a name, whatever the variable TZ says', () => {
  for (const TZ of [undefined, '', ':UTC', ':/etc/localtime', 'nonsense']) {
    const { zone } = machineZone(TZ === undefined ? {} : { TZ })
    expect(namedZone(zone)).toBe(zone)
  }
})
