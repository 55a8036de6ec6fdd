import { expect, it } from 'vitest'
import { decodeOther, decodeText } from './decode-text.ts'

const TEXT = 'KEY=grün\r\n'
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')

it.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with a mark', Buffer.from(`\uFEFF${TEXT}`)],
  ['UTF-16 with a mark', utf16(`\uFEFF${TEXT}`)],
  ['UTF-16 without a mark', utf16(TEXT)],
  ['UTF-16 of the other order', utf16(`\uFEFF${TEXT}`).swap16()],
  ['UTF-16 of the other order without a mark', utf16(TEXT).swap16()],
])('a text in %s is read without a mark', (_encoding, bytes) => {
  expect(decodeText(bytes)).toBe(TEXT)
})

it('an empty text and one letter are read, and other bytes are no text', () => {
  expect([decodeText(Buffer.alloc(0)), decodeText(Buffer.from('x'))]).toEqual(['', 'x'])
  const latin1 = Buffer.from(TEXT, 'latin1')
  expect(() => decodeText(latin1)).toThrow(TypeError)
  expect(decodeText(latin1, false)).toBe('KEY=gr\uFFFDn\r\n')
})

it('a text that is not UTF-8 is Windows-1252, unless some of it certainly is UTF-8', () => {
  expect(decodeOther(Buffer.from([0x93, 0xfc, 0x94]))).toBe('“ü”')
  expect(decodeOther(Buffer.concat([Buffer.from('ü'), Buffer.from([0xff])]))).toBe('ü\uFFFD')
})
