// This file verifies which texts of a call are destinations. No text takes a time with the square of its length.
import { expect, it } from 'vitest'
import { targetsOf } from './flow.ts'

const MANY = 1_000_000

it.each([
  ['dots after the sign of an address', `a@${'.'.repeat(MANY)}@`],
  ['spaces after the plus of a number', `+1${' '.repeat(MANY)}x`],
  ['spaces before what is no address', `${' '.repeat(MANY)}x y`],
])('a destination of a call is found among %s', (_what, text) => {
  expect(targetsOf({ words: text, [text]: 1 })).toEqual([])
})

it.each([
  ['an address', 'ann@acme.example'],
  ['one with blanks around it', ' \t+49 (30) 123-456 \n'],
  ['one with dots in a row', 'a@b..c'],
  ['one that begins with a dot after the sign', 'a@.b.c'],
])('a text is a destination of a call as %s', (_what, text) => {
  expect(targetsOf({ words: text })).toEqual([{ path: 'words', value: text, isName: false }])
})

it.each(['a@b', 'a@.b', 'a@b.', 'a@b@c.d', '+1 23'])('%j is no address', (text) => {
  expect(targetsOf({ words: text }).filter(({ isName }) => !isName)).toEqual([])
})
