import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutputBuffer } from './output-buffer.ts'

const filled = (keptBytes: number, pieces: string[]) => {
  const buffer = new OutputBuffer(keptBytes)
  for (const piece of pieces) buffer.append(piece)
  return buffer.toString()
}

describe('OutputBuffer', () => {
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

  it('an output buffer accepts a piece longer than its limit', () => {
    expect(filled(10, [`${'a'.repeat(1_000_000)}END`])).toBe('aaaaa\n... 999,993 bytes are not kept ...\naaEND')
  })
})
