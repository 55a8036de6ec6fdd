import { expect, it } from 'vitest'
import { sortedJson } from './json.ts'

it('sorted JSON is the same for objects that are equal, however deep and in whatever order their keys are', () => {
  const one = { b: [{ y: 1, x: 'é"\n' }, null], a: { d: true, c: 1.5 } }
  const other = { a: { c: 1.5, d: true }, b: [{ x: 'é"\n', y: 1 }, null] }
  expect(sortedJson(one)).toBe('{"a":{"c":1.5,"d":true},"b":[{"x":"é\\"\\n","y":1},null]}')
  expect(sortedJson(other)).toBe(sortedJson(one))
})

it('sorted JSON leaves out what JSON leaves out, and keeps the order of a list', () => {
  const value = { none: undefined, list: [undefined, 1], ['__proto__']: 2 }
  expect(sortedJson(value)).toBe('{"__proto__":2,"list":[null,1]}')
  expect(sortedJson(undefined)).toBe('null')
})
