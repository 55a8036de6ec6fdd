import fc from 'fast-check'
import { expect, it } from 'vitest'
import { plainText, shownText, TerminalText } from './terminal-text.ts'

it.each([
  ['plain\n\ttext', 'plain\n\ttext'],
  ['\x1b[1;31mred\x1b[0m', 'red'],
  ['\x1b]8;;https://example.com\x07link\x1b]8;;\x07', 'link'],
  ['\x1b]0;title\x1b\\shown', 'shown'],
  ['cut off \x1b[3', 'cut off '],
  ['windows\r\nlines\r\n', 'windows\nlines\n'],
  ['10%\r50%\r100%\ndone', '100%\ndone'],
  ['100%\r    \r', '100%'],
  ['|\b/\b-\b done', ' done'],
  ['nul \0 del \x7f etx \x03', 'nul ␀ del ␡ etx ␃'],
  ['lone \ud800 pair 🚀', 'lone \ufffd pair 🚀'],
])('plainText(%j) is %j', (text, expected) => expect(plainText(text)).toBe(expected))

it('plainText takes linear time for hostile output', () => {
  for (const piece of ['\x1b', '\x1b]', '\x1b[', '\r', '\b', '\x1b]\x1b\\', 'x\r']) {
    expect(plainText(piece.repeat(300_000)).length).toBeLessThanOrEqual(600_000)
  }
})

it('plainText always returns well-formed text without control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const plain = plainText(text)
      expect(plain).not.toMatch(/\p{Surrogate}/u)
      expect(plain).not.toMatch(/[^\P{Cc}\n\t]/u)
    }),
  )
})

it('TerminalText returns the same however the text is cut', () => {
  const unit = fc.constantFrom('a', 'b ', '\r', '\n', '\r\n', '\x1b[31m', '\b', '\0', '🚀', '50%')
  fc.assert(
    fc.property(fc.array(fc.array(unit)), (pieces) => {
      const stream = new TerminalText()
      const parts = pieces.map((piece) => stream.push(piece.join('')))
      expect(parts.join('') + stream.end()).toBe(plainText(pieces.flat().join('')))
    }),
  )
})

it('TerminalText keeps one state of a progress bar, however often it moves', () => {
  const stream = new TerminalText()
  let text = ''
  for (let step = 0; step <= 100_000; step += 1) text += stream.push(`\rstep ${step} of 100000`)
  expect(text + stream.end()).toBe('step 100000 of 100000')
})

it('TerminalText does not wait for the end of an endless line', () => {
  const stream = new TerminalText()
  const long = 'x'.repeat(1_000_000)
  expect(stream.push(long)).toBe(long)
})

it('shownText shows what reorders text or is never shown as escapes, and leaves joiners and marks of scripts', () => {
  expect(shownText('\x1b[2Ja\u202eb\u2069c\u{e0041}d')).toBe('a\\u202eb\\u2069c\\udb40\\udc41d')
  expect(shownText('👩\u200d🚀 می\u200cخواهم ❤\ufe0f')).toBe('👩\u200d🚀 می\u200cخواهم ❤\ufe0f')
})
