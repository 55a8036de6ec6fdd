import { expect, it } from 'vitest'
import { hasRoundedInteger } from './rounded-integers.ts'

it.each([
  ['[9007199254740993]', true],
  ['{"a":{"b":[1,{"id":-1234567890123456789}]}}', true],
  ['1e300', true],
  ['[9007199254740991,-9007199254740991,0.5,1e-9,"9007199254740993",null,true,{}]', false],
  [`${'['.repeat(100_000)}9007199254740993${']'.repeat(100_000)}`, true],
])('an integer that may have been rounded is found in %.60s: %s', (json, expected) => {
  expect(hasRoundedInteger(nested(json))).toBe(expected)
})

/** JSON.parse of some versions of Node refuses so many brackets. */
function nested(json: string): unknown {
  const depth = /^\[*/.exec(json)![0].length
  if (depth < 1_000) return JSON.parse(json)
  let value: unknown = JSON.parse(json.slice(depth, -depth))
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}
