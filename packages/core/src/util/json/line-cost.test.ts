import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JsonCost, lineCost, MAX_NESTING, MAX_STRUCTURE } from './line-cost.ts'

const why = (line: string) => lineCost(Buffer.from(line)).tooCostly

it('the cost of a line allows what a cell may well send', () => {
  expect(why(JSON.stringify({ type: 'call', params: Array.from({ length: 1_000_000 }, (_, i) => i) }))).toBeUndefined()
  const rows = Array.from({ length: 80_000 }, (_, i) => ({ id: i, name: `row ${i}`, at: 1.5 }))
  expect(why(JSON.stringify({ type: 'call', params: { rows } }))).toBeUndefined()
  expect(why(`{"type":"output","text":"${'x'.repeat(50_000_000)}"}`)).toBeUndefined()
  expect(why(JSON.stringify({ text: '{"a":[1,2]},'.repeat(500_000) }))).toBeUndefined()
})

it('the cost of a line has an exact limit on structural characters', () => {
  const list = (commas: number) => `[1${',1'.repeat(commas)}]`
  expect(why(list(MAX_STRUCTURE - 2))).toBeUndefined()
  expect(why(list(MAX_STRUCTURE - 1))).toMatch(/more than 1048576 of the characters/)
  expect(why('{},'.repeat(MAX_STRUCTURE / 3 + 1))).toMatch(/more than/)
  expect(why(`{${'"a":1,'.repeat(MAX_STRUCTURE / 2)}"b":1}`)).toMatch(/more than/)
})

it('the cost of a line has an exact limit on nesting', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  expect(why(nested(MAX_NESTING))).toBeUndefined()
  expect(why(`[${`${nested(MAX_NESTING - 1)},`.repeat(20)}1]`)).toBeUndefined()
  expect(why(nested(MAX_NESTING + 1))).toBe('lists and objects nested more than 1000 deep')
  expect(why('{"a":['.repeat(MAX_NESTING))).toBe('lists and objects nested more than 1000 deep')
})

it('the cost of a line counts nothing inside strings, however long and whatever is escaped in them', () => {
  const piece = fc.oneof(
    fc.constantFrom('"', '\\', '\\"', '\\\\"', '[', '{', ','),
    fc.integer({ min: 1, max: 200 }).map((count) => 'x'.repeat(count)),
    fc.integer({ min: 1, max: 70 }).map((count) => '\\'.repeat(count)),
  )
  const strings = fc.array(
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    { minLength: 1, maxLength: 8 },
  )
  fc.assert(
    fc.property(strings, (texts) => {
      // The structure between the strings is exactly at the limit, so that a mistake about any string's end shows.
      const line = JSON.stringify(texts)
      const rest = MAX_STRUCTURE - 2 - (texts.length - 1)
      const fits = `${line.slice(0, -1)}${','.repeat(rest)}]`
      expect(why(fits)).toBeUndefined()
      expect(why(`${fits},`)).toMatch(/more than/)
    }),
    { numRuns: 30 },
  )
})

it('the cost of a line is found for text that is not JSON', () => {
  for (const line of ['', '"', '"\\', `"${'x'.repeat(63)}\\`, `"${'x'.repeat(64)}\\"`, ']'.repeat(2_000), '\\"['])
    expect(why(line)).toBeUndefined()
})

it('the cost of JSON is the same however a text is cut', () => {
  const piece = fc.constantFrom('"', '\\', '[', '{', ',', 'x'.repeat(70), '\\\\')
  const texts = fc.array(fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')))
  fc.assert(
    fc.property(texts, fc.array(fc.integer({ min: 1, max: 90 })), (strings, sizes) => {
      const bytes = Buffer.from(JSON.stringify({ strings, end: [1, 2] }))
      const cost = new JsonCost()
      let at = 0
      for (const size of sizes) {
        cost.push(bytes, at, Math.min(bytes.length, at + size))
        at = Math.min(bytes.length, at + size)
      }
      cost.push(bytes, at)
      expect(cost.structure).toBe(lineCost(bytes).structure)
    }),
  )
})

it('the cost of JSON is the same with an empty piece anywhere', () => {
  const bytes = Buffer.from(JSON.stringify({ a: '"[,', b: [1, '\\'] }))
  for (let at = 0; at <= bytes.length; at++) {
    const cost = new JsonCost()
    for (const [start, end] of [
      [0, at],
      [at, at],
      [at, bytes.length],
    ])
      cost.push(bytes, start, end)
    expect(cost.structure).toBe(lineCost(bytes).structure)
  }
})
