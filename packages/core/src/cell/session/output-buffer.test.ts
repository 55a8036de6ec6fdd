import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OutputBuffer } from './output-buffer.ts'

const filled = (keptBytes: number, pieces: string[]) => {
  const buffer = new OutputBuffer(keptBytes)
  for (const piece of pieces) buffer.append(piece)
  return buffer.toString()
}

it('an output buffer returns output that fits, in whatever pieces it came', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (pieces) => {
      expect(filled(1_000_000, pieces)).toBe(pieces.join(''))
    }),
  )
})

it('an output buffer keeps whole characters of both ends of longer output, and says how much is missing', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 20 }), (pieces) => {
      const text = pieces.join('')
      const bytes = Buffer.byteLength(text)
      fc.pre(bytes > 40)
      const kept = filled(40, pieces)
      const [head, tail] = kept.split(/\n\.\.\. [\d,]+ bytes are not kept \.\.\.\n/)
      if (tail === undefined) {
        expect(kept).toBe(text)
        return
      }
      expect(text.startsWith(head!) && text.endsWith(tail)).toBe(true)
      expect(Number(/\.\.\. ([\d,]+) bytes/.exec(kept)![1]!.replaceAll(',', ''))).toBe(
        bytes - Buffer.byteLength(head!) - Buffer.byteLength(tail),
      )
    }),
  )
})

it('an output buffer splits its text at places, and at the gap for those that are not kept', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.integer({ min: 8, max: 200 }), (pieces, kept) => {
      const buffer = new OutputBuffer(kept)
      const places = pieces.map((piece) => (buffer.append(piece), buffer.length))
      const found = buffer.split(places)
      expect(found.join('')).toBe(buffer.toString())
      if (buffer.toString() === pieces.join('')) expect(found).toEqual([...pieces, ''])
    }),
  )
  const buffer = new OutputBuffer(8)
  const places = ['abcd', 'x', 'y', '1234'].map((piece) => (buffer.append(piece), buffer.length))
  expect(buffer.split(places)).toEqual(['abcd', '', '\n... 2 bytes are not kept ...\n', '1234', ''])
})

it('an output buffer accepts a piece longer than its limit', () => {
  expect(filled(10, [`${'a'.repeat(1_000_000)}END`])).toBe('aaaaa\n... 999,993 bytes are not kept ...\naaEND')
})
