// This file verifies that no text of a cell or a server makes the bridge, which serves others meanwhile, work for
// minutes: each took a time with the square of its length once.
import { expect, it } from 'vitest'
import { eachText } from './leaves.ts'
import { OriginIndex } from './origin-index.ts'
import { readingsOf } from './readings.ts'
import { spellsText } from './spelled-text.ts'

const MANY = 1_000_000

it.each([
  ['line breaks', '\n'],
  ['spaces', ' '],
])('what is no base64 is read as text after many %s', (_what, blank) => {
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

it('a text full of escapes has one other reading', () => {
  const text = '%41%42 \\n \\x41 &amp; &#37;43 1e+5 0001234567 a\u200Bb \\u0025\\u0034\\u0031 '.repeat(20_000)
  const [raw, plain, ...more] = readingsOf(text)
  expect([raw === text, plain!.length < text.length, more]).toEqual([true, true, []])
})

it.each(['1 ', '65 66 32 ', '- ', '. - ', '1'])('spelled text is looked for in many %j', (sign) => {
  expect(typeof spellsText(sign.repeat(100_000))).toBe('boolean')
})

it('of a call with more than can be looked at in one turn, the rest is of nobody who is known', async () => {
  const index = new OriginIndex()
  index.addWritten('a plain word')
  const most = Array.from({ length: 2_000 }, () => 'a plain word '.repeat(1_000))
  expect(index.originOf(most)).toMatchObject({ isModels: true, hasUnknown: true })
  // Control: a part of it, in the next turn.
  await new Promise((resolve) => setImmediate(resolve))
  expect(index.originOf(most.slice(0, 20))).toMatchObject({ isModels: true, hasUnknown: false })
})

it.each([
  ['percent signs', '%'.repeat(40_000_000)],
  ['encoded characters', '%41'.repeat(10_000_000)],
  ['very many texts', Array.from({ length: 1_000_000 }, () => 'x')],
])('looking for the origin of %s takes little more than of what is read of them', async (_, value) => {
  const timed = async (one: unknown): Promise<number> => {
    const index = new OriginIndex()
    await new Promise((resolve) => setImmediate(resolve))
    const { user } = process.cpuUsage()
    index.originOf(one)
    return process.cpuUsage().user - user
  }
  await timed(value)
  const control = await timed('%41'.repeat(300_000))
  expect(await timed(value)).toBeLessThan(5 * control)
})
