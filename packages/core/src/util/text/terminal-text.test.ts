import fc from 'fast-check'
import { expect, it } from 'vitest'
import { plainText, shownText, TerminalText } from './terminal-text.ts'
import { anyCharacter } from '../../../test/support/suite/any-character.ts'

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
  ['a\nb\n\x1b[1A\x1b[2KB', 'a\nB\n'],
  ['one\ntwo\n\x1b[2A\rONE\x1b[2B\r3', 'ONE\ntwo\n3'],
  ['abcdef\r\x1b[3Cxy', 'abcxyf'],
  ['abcdef\x1b[2D__\x1b[1G|', '|bcd__'],
  ['abc\x1b[5Gx', 'abc x'],
  ['gone\n\x1b[H\x1b[2Jkept', 'kept'],
  ['a\nb\nc\x1b[2F\x1b[Jd', 'd'],
  ['50%\r\x1b[K100%', '100%'],
  ['working\r\x1b[2K', ''],
  ['x\x1b7\n\nlow\x1b8y\x1b[Bz', 'xy\n  z\nlow'],
  ['a\x1b[9999Bb\x1b[9999A\x1b[9999Dc', `c${'\n'.repeat(49)} b`],
])('plainText(%j) is %j', (text, expected) => expect(plainText(text)).toBe(expected))

it('plainText takes linear time for hostile output', () => {
  for (const piece of [
    '\x1b',
    '\x1b]',
    '\x1b[',
    '\r',
    '\b',
    '\x1b]\x1b\\',
    'x\r',
    '\x1b[A',
    '\x1b[9B',
    'x\x1b[J',
    '\x1b[Hx\n',
  ]) {
    expect(plainText(piece.repeat(300_000)).length).toBeLessThanOrEqual(600_000)
  }
})

it('plainText always returns well-formed text without control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const plain = plainText(text)
      expect(plain).not.toMatch(/\p{Surrogate}/u)
      expect(plain).not.toMatch(/[^\P{Cc}\n\t]/u)
    }),
  )
})

it('TerminalText returns the same however the text is cut', () => {
  const unit = fc.constantFrom(
    'a',
    'b ',
    '\r',
    '\n',
    '\r\n',
    '\x1b[31m',
    '\b',
    '\0',
    '🚀',
    '50%',
    '\x1b[A',
    '\x1b[2K',
    '\x1b[3G',
    '\x1b[J',
  )
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

it('TerminalText shows each of several progress bars in its last state, and the prints between them', () => {
  const stream = new TerminalText()
  let text = stream.push('start\n')
  for (let turn = 0; turn < 100; turn += 1) {
    text += stream.push(`\router ${turn}\n\rinner 0\x1b[A`)
    for (let step = 1; step <= 20; step += 1) text += stream.push(`\n\rinner ${step}\x1b[A`)
    if (turn % 40 === 0) text += stream.push(`\r\x1b[Kturn ${turn}\n`)
  }
  expect((text + stream.end()).split('\n')).toEqual(['start', 'turn 0', 'turn 40', 'turn 80', 'outer 99', 'inner 20'])
})

it('TerminalText loses nothing of long lines and of many after the cursor has moved', () => {
  const stream = new TerminalText()
  const lines = Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(index * 9)}`).join('\n')
  const text = stream.push('bar\x1b[2K\r') + stream.push(lines.slice(0, 3_000)) + stream.push(lines.slice(3_000))
  expect(text + stream.end()).toBe(lines)
})

it('TerminalText does not wait for the end of an endless line', () => {
  const stream = new TerminalText()
  const long = 'x'.repeat(1_000_000)
  expect(stream.push(long)).toBe(long)
})

const selectors = (text: string) =>
  text
    .split('')
    .map((sign) => String.fromCodePoint(0xe_01_00 + sign.charCodeAt(0)))
    .join('')
const bits = (text: string, [zero, one]: [string, string]) =>
  text
    .split('')
    .flatMap((sign) => sign.charCodeAt(0).toString(2).padStart(8, '0').split(''))
    .map((bit) => (bit === '0' ? zero : one))
    .join('')
const HIDDEN: Record<string, string> = {
  'direction marks': 'a\u202eb\u2069c',
  tags: 'a\u{e0041}d',
  'tags after a flag': '🏴\u{e0041}\u{e0042}\u{e007f}',
  'variation selectors after a letter': `a${selectors('hi')}`,
  'variation selectors after an emoji': `😀${selectors('hi')}`,
  'a second selector after an emoji': '👍\ufe0f\ufe0f',
  'a second selector after a Han sign': '葛\u{e0100}\u{e0101}',
  'a selector of no emoji': '❤\ufe01',
  'zero-width bits': bits('hi', ['\u200b', '\u200c']),
  'bits of direction': bits('hi', ['\u200e', '\u200f']),
  'bits of other marks': bits('hi', ['\u061c', '\u2060']) + bits('hi', ['\u034f', '\ufeff']),
  'bits of fillers': bits('hi', ['\u3164', '\uffa0']),
  'operators of mathematics': 'a\u2062b\u2063c',
  'soft hyphens': 'a\u00adb',
  'joiners of Latin letters': 'a\u200db\u200cc',
  'two joiners in a row': 'می\u200c\u200cخواهم',
  'a joiner before a space': 'می\u200c x',
  'marks of annotations': 'a\ufff9b\ufffac\ufffb',
}
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u

it.each(Object.entries(HIDDEN))('shownText shows %s as escapes', (_what, text) => {
  const shown = shownText(`\x1b[2J${text}`)
  expect(shown).toMatch(/\\u[0-9a-f]{4}/)
  const restored = shown.replaceAll(/\\u([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
  expect(restored).toBe(text)
  // One selector or joiner may be a part of the sign before it.
  expect(shown.match(new RegExp(UNSEEN, 'gu'))?.length ?? 0).toBeLessThanOrEqual(1)
})

it('shownText takes hardly longer than a plain replacement for a million unseen signs', () => {
  const text = '\u200b\u202e'.repeat(500_000)
  const cost = (work: () => string): number => {
    const before = process.cpuUsage()
    expect(work()).toBe(String.raw`\u200b\u202e`.repeat(500_000))
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const plain = cost(() => text.replaceAll(/./gu, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`))
  expect(cost(() => shownText(text))).toBeLessThan(2 * plain)
})

it.each([
  '👩\u200d🚀',
  '👨‍👩‍👧‍👦',
  '👍🏽',
  '❤\ufe0f',
  '❤️‍🔥',
  '1\ufe0f\u20e3',
  '🏳️‍🌈',
  '👁️‍🗨️',
  '🧑🏿‍🦰',
  '🏴󠁧󠁢󠁳󠁣󠁴󠁿',
  'می\u200cخواهم',
  'क्\u200dष',
  'ක්\u200dෂ',
  'ব্\u200d',
  '葛\u{e0100}',
  '∩\ufe00',
  'ᠠ\u180b',
  'Grüße, 日本',
])('shownText leaves %s as it is: its script or emoji needs it', (text) => {
  expect(shownText(text)).toBe(text)
})
