import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exactJson, markBigInts, parseExact } from './parse-exact.ts'
import { unmarked } from './exact-numbers.ts'

it.each([
  '7960607143101464577',
  '-9223372036854775809',
  '{"id":18446744073709551615,"rows":[{"id":9007199254740993}]}',
  '{"best":9,"30":"first","7":"second","12":{"b":1,"2":2,"1":3}}',
  '[{"10":1,"9":[12345678901234567890123456789012345678901234567890]},"\\\\\\"9007199254740993\\\\"]',
  '{"__proto__":{"polluted":9007199254740993},"1":2,"0":1}',
  '{"9":{},"8":[],"a\\"}":"]"}',
  '{"a":3.0,"rows":[-0.0,1e+16,2,[3.0,"x"],{"2":1.5E1,"1":"3.0"}],"b":{"toJSON":"mine"}}',
])('JSON keeps its integers and the order of its keys when it is read and written: %s', (json) => {
  expect(exactJson(parseExact(json))).toBe(json)
  expect(unmarked(JSON.stringify(markBigInts(parseExact(json))))).toBe(json)
})

it('only an integer that a number would round is a BigInt', () => {
  expect(parseExact('[9007199254740991, 9007199254740992, 9007199254740993, 1e20, 3.0, -0]')).toEqual([
    9007199254740991,
    9007199254740992,
    9007199254740993n,
    1e20,
    3,
    -0,
  ])
  // Longer ones take too much time: a number stands for them, as without this module.
  expect(parseExact(`[${'9'.repeat(5_000)}]`)).toEqual([Infinity])
})

it('an object with keys in an order of its own can be changed as any other', () => {
  const object = parseExact('{"b":1,"2":2,"1":3}') as Record<string, unknown>
  delete object['2']
  object['c'] = 4
  expect(exactJson(object)).toBe('{"b":1,"1":3,"c":4}')
  expect(object).toEqual({ b: 1, 1: 3, c: 4 })
})

it('a float that is replaced or copied is written as the number that it is now', () => {
  const row = parseExact('{"a":3.0,"b":[1.0,2.0]}') as { a: unknown; b: number[] }
  row.a = 4
  row.b[1] = 7
  expect(exactJson(row)).toBe('{"a":4,"b":[1.0,7]}')
  expect(JSON.stringify(row)).toBe('{"a":4,"b":[1,7]}')
  expect(exactJson({ ...row, b: [...row.b] })).toBe('{"a":4,"b":[1,7]}')
})

it('code that does not know of BigInts writes their digits, and refuses no value', () => {
  expect(JSON.stringify(parseExact('[9007199254740993]'))).toBe('["9007199254740993"]')
})

it('any JSON is read as JSON.parse reads it, apart from what that loses', () => {
  const key = fc.oneof(fc.string(), fc.nat(20).map(String), fc.constant('__proto__'))
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.constant(9007199254740993n),
      fc.constant(null),
      fc.boolean(),
      fc.array(tie('value')),
      fc.array(fc.tuple(key, tie('value'))).map((entries): unknown => Object.fromEntries(entries)),
    ),
  }))
  fc.assert(
    fc.property(value, fc.nat(2), (made, space) => {
      const json = exactJson(made)
      expect(parseExact(unmarked(JSON.stringify(markBigInts(made), undefined, space)))).toEqual(parseExact(json))
      expect(exactJson(parseExact(json))).toBe(json)
    }),
    { numRuns: 300 },
  )
  expect(() => parseExact('{"1": 12345678901234567890,}')).toThrow(SyntaxError)
})
