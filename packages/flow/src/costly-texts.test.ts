// This file verifies that no text of a cell or a server makes the bridge, which serves others meanwhile, work for
// minutes: each took a time with the square of its length once.
import { expect, it } from 'vitest'
import { targetsOf } from '../../core/src/config/rules/flow.ts'
import { fromBase64 } from '../../core/src/calls/methods/artifact-methods.ts'
import { EACH_ENCODING } from '../test/support/each-encoding.ts'
import { eachText } from './leaves.ts'
import { readingsOf } from './readings.ts'

const MANY = 1_000_000

it.each([
  ['dots after the sign of an address', `a@${'.'.repeat(MANY)}@`],
  ['spaces after the plus of a number', `+1${' '.repeat(MANY)}x`],
  ['spaces before what is no address', `${' '.repeat(MANY)}x y`],
])('a destination of a call is found among %s', { timeout: 60_000 }, (_what, text) => {
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

it.each([
  ['line breaks', '\n'],
  ['spaces', ' '],
])('what is no base64 is read as text after many %s', { timeout: 60_000 }, (_what, blank) => {
  for (const begin of ['', 'AAAA=']) {
    const told: boolean[] = []
    eachText({ blob: `${begin}${blank.repeat(MANY)}!` }, (_text, isBytes) => void told.push(isBytes))
    expect(told).toEqual([false, false])
  }
})

it.each(['AAEC', 'AAE=\n', 'AA==\r\n ', '-_-_', '', 'AAEC\n\nAAEC\n', 'AAEC '])('%j is read as base64', (blob) => {
  const told: boolean[] = []
  eachText({ blob }, (_text, isBytes) => void told.push(isBytes))
  expect(told).toEqual([false, true])
})

it('many equals signs are no base64', { timeout: 60_000 }, () => {
  expect(() => fromBase64(`${'='.repeat(MANY)}A`)).toThrow('must be base64')
  for (const wrong of ['A===', 'AAA', 'AAEC=', '!AAA']) expect(() => fromBase64(wrong)).toThrow('must be base64')
  expect(['AAEC', 'AAE=', 'AA==', ''].map((text) => fromBase64(text).length)).toEqual([3, 2, 1, 0])
})

it('many words in base64 are all read', { timeout: 60_000 }, () => {
  const words = Array.from({ length: 150_000 }, (_, index) => `word${String(index).padStart(8, '0')}`)
  const { texts } = readingsOf(words.map((word) => Buffer.from(word).toString('base64')).join(' '))
  expect(texts.filter((text) => text.startsWith('word0') && text.length === 12).length).toBe(words.length)
})

it.each([
  ['after one of each encoding', `${EACH_ENCODING}${'some words of a page '.repeat(10_000)}`],
  ['full of encodings', EACH_ENCODING.repeat(1_000)],
])('a text %s makes few readings', (_what, text) => {
  const { texts } = readingsOf(text)
  expect(texts.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(30 * text.length)
})
