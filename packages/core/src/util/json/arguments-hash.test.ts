import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { argumentsHash, hashInTurns } from './arguments-hash.ts'
import { sortedJson } from './json.ts'

const LARGE: Record<string, unknown>[] = [
  { items: Array.from({ length: 40_000 }, (_, at) => ({ b: at, a: [at / 7, null], none: undefined })), to: 'x' },
  { text: 'a"\n😀'.repeat(50_000), inner: { z: [['q'.repeat(70_000), undefined]], a: 1n, none: undefined } },
  Object.fromEntries(Array.from({ length: 70_000 }, (_, at) => [`k${at}`, at])),
]

it.each(LARGE)('the hash of large arguments is made in turns, and is that of their sorted JSON', async (args) => {
  const hashing = hashInTurns(args)
  expect(hashing).toBeInstanceOf(Promise)
  await hashing
  const made = createHash('sha256').update(sortedJson(args)).digest('hex')
  expect(argumentsHash(args)).toBe(made)
  expect(argumentsHash({ ...args })).toBe(made)
})

it('control: the hash of small arguments is made at once, and the order of their keys does not matter', () => {
  expect(hashInTurns({ a: 1, b: 'x'.repeat(1000) })).toBeUndefined()
  expect(argumentsHash({ a: 1, b: { c: 2, d: 3 } })).toBe(argumentsHash({ b: { d: 3, c: 2 }, a: 1 }))
  expect(argumentsHash({ a: 1 })).not.toBe(argumentsHash({ a: 2 }))
})
