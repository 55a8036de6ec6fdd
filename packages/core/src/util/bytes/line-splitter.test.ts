import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLineSplitter } from './line-splitter.ts'
import { anyCharacter } from '../../../test/support/suite/any-character.ts'

function split(chunks: Buffer[], maxBytes = 1000) {
  const lines: string[] = []
  const tooLong: [string, string, number][] = []
  const splitter = createLineSplitter({
    maxBytes,
    onLine: (line) => lines.push(line.toString()),
    onTooLong: ({ head, tail, bytes }) => tooLong.push([head, tail, bytes]),
  })
  for (const chunk of chunks) splitter.push(chunk)
  return { lines, tooLong }
}

it('lines are the same however the bytes are cut', () => {
  const line = fc
    .string({ unit: anyCharacter, minLength: 1, maxLength: 30 })
    .map((text) => text.replace(/[\r\n]/g, '\u2028'))
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
      const points = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length]
      const chunks = points.slice(1).map((end, i) => bytes.subarray(points[i], end))
      expect(split(chunks).lines).toEqual(lines.map((text) => Buffer.from(text).toString()))
    }),
  )
})

it('blank lines and a CR before the LF are left out, and an unfinished line waits', () => {
  expect(split([Buffer.from('\n\r\na\r\n\nb\nrest')]).lines).toEqual(['a', 'b'])
})

it('a line that is too long is dropped, its ends are reported, and the next one is read', () => {
  const long = `{"id":7${'x'.repeat(2000)},"end":1}`
  const bytes = Buffer.from(`before\n${long}\nafter\n`)
  const byteByByte = [...bytes].map((byte) => Buffer.from([byte]))
  for (const chunks of [[bytes], byteByByte]) {
    const { lines, tooLong } = split(chunks)
    expect(lines).toEqual(['before', 'after'])
    expect(tooLong).toEqual([[long.slice(0, 256), long.slice(-256), long.length]])
  }
})

it('a line of exactly the limit is kept', () => {
  expect(split([Buffer.from(`${'x'.repeat(10)}\n`)], 10).lines).toHaveLength(1)
  expect(split([Buffer.from(`${'x'.repeat(11)}\n`)], 10).tooLong).toHaveLength(1)
})
