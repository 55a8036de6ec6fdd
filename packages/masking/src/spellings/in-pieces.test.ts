// This file verifies that masking a long text leaves others their turn, and finds what it finds in a short one.
import { expect, it } from 'vitest'
import { MASK_KINDS } from '../../../core/src/config/settings/sandbox.ts'
import { createMaskers } from '../part.ts'
import { PIECE_CHARS } from './in-pieces.ts'

const masker = (patterns: { name: string; pattern: string }[] = []) =>
  createMaskers({ kinds: MASK_KINDS, patterns }).of({})

/** How many turns of the event loop others get while something works. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const next = (): void => {
    turns += 1
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  await work()
  isOver = true
  return turns
}

it.each([
  ['one text', ['password=hunter22xx\n'.repeat(40_000)]],
  ['escapes', [String.raw`\n\u0041\x41`.repeat(50_000)]],
  ['percent signs', ['%41%20'.repeat(300_000)]],
  ['many texts', Array.from({ length: 600 }, (_, at) => `${at} ${'a@x.example '.repeat(100)}`)],
])('masking gives others their turn: %s', async (_, texts) => {
  const one = masker()
  const turns = await turnsDuring(() => one.masked((mask) => texts.map((text) => mask(text))))
  expect(turns).toBeGreaterThan(2)
  // Control: what is masked at once gives none.
  expect(
    await turnsDuring(async () => texts.slice(0, 3).map((text) => one.maskedNow(text.slice(0, 1000)))),
  ).toBeLessThan(2)
})

it('a value in a long text is masked wherever pieces begin and end', () => {
  const value = 'ann.lee@corp.example'
  for (let before = PIECE_CHARS - 30; before < PIECE_CHARS + 3; before += 1) {
    const text = `${'x '.repeat(before / 2)}${' '.repeat(before % 2)}${value}${' y'.repeat(PIECE_CHARS)}`
    const one = masker()
    const masked = one.maskedNow(text)!
    expect(masked).toBe(text.replace(value, '[EMAIL_1]'))
    expect(one.unmask('[EMAIL_1]')).toBe(value)
  }
})

it('a value that is longer than a piece is masked to its end', () => {
  const long = `KEY-${'A'.repeat(3 * PIECE_CHARS)}`
  const one = masker([{ name: 'key', pattern: 'KEY-[A-Z]+' }])
  const text = `${'x '.repeat(50_000)}${long} and more`
  expect(one.maskedNow(text)).toBe(`${'x '.repeat(50_000)}[KEY_1] and more`)
  expect(one.unmask('[KEY_1]')).toBe(long)
})

it('equal values in many pieces have one token', async () => {
  const text = '"to\\nann.lee@corp.example" '.repeat(8_000)
  const one = masker()
  const masked = await one.masked((mask) => mask(text))
  expect(masked).toBe('"to\\n[EMAIL_1]" '.repeat(8_000))
})
