import { expect, it } from 'vitest'
import { parseArguments } from './parameters.ts'

const PARAMETERS = ['week', 'day', 'month', 'year', 'date', 'title'].map((name) => ({
  name,
  type: name === 'date' || name === 'title' ? 'str' : 'int',
  required: false,
}))
const AUTO = PARAMETERS.flatMap(({ name }) => [`--${name}`, 'auto'])

it.each([
  ['Pacific/Kiritimati', { week: 53, day: 1, month: 1, year: 2027, date: '2027-01-01' }],
  ['UTC', { week: 53, day: 31, month: 12, year: 2026, date: '2026-12-31' }],
  ['Pacific/Pago_Pago', { week: 53, day: 30, month: 12, year: 2026, date: '2026-12-30' }],
])('auto is the date in the given time zone: %s', (zone, expected) => {
  const moment = new Date(zone === 'Pacific/Pago_Pago' ? '2026-12-31T10:30:00Z' : '2026-12-31T12:00:00Z')
  expect(parseArguments(AUTO, PARAMETERS, moment, zone)).toEqual({ ...expected, title: 'auto' })
})
