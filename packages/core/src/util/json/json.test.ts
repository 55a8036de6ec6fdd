import { expect, it } from 'vitest'
import { isRecord, parseJson, withoutUndefined } from './json.ts'

it.each([
  ['{"a": [1]}', { a: [1] }],
  ['null', null],
  ['0', 0],
  ['', undefined],
  ['{"a":', undefined],
  ['undefined', undefined],
])('parseJson(%j) gives %j and never throws', (text, value) => {
  expect(parseJson(text)).toEqual(value)
})

it('isRecord holds for objects alone', () => {
  expect([{}, Object.create(null), { a: 1 }].map(isRecord)).toEqual([true, true, true])
  expect([null, undefined, [], 'a', 1].map(isRecord)).toEqual([false, false, false, false, false])
})

it('withoutUndefined removes undefined fields and nothing else', () => {
  const kept = withoutUndefined({ a: undefined, b: null, c: '', d: 0, inner: { e: undefined } })
  expect(Object.keys(kept)).toEqual(['b', 'c', 'd', 'inner'])
  expect(Object.keys(kept.inner)).toEqual(['e'])
})
