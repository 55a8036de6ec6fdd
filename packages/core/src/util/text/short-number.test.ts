import { expect, it } from 'vitest'
import { shortNumber } from './count.ts'

it.each([
  [5, '5'],
  [1_234_567, '1234567'],
  [-3, '-3'],
  [0, '0'],
  [5.002000000000001, '5'],
  [0.1 + 0.2, '0.3'],
  [1 / 3, '0.333'],
  [100 / 3, '33.33'],
  [-100 / 3, '-33.33'],
  [0.000012345, '0.0000123'],
])('the number %d is written as %s', (value, text) => {
  expect(shortNumber(value)).toBe(text)
})
