// Text as tools of Windows write it, too: PowerShell's `>` writes UTF-16, and editors put a byte order mark in front.

/** How bytes are encoded: ASCII in UTF-16 has a zero beside each letter, with or without a mark. */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== undefined && second !== 0)) return 'utf-16be'
  return 'utf-8'
}

/**
 * The text without its mark.
 * @param fatal false puts U+FFFD in place of what is no text
 * @throws TypeError if it is not text in its encoding
 */
export function decodeText(bytes: Uint8Array, fatal = true): string {
  return new TextDecoder(encodingOf(bytes), { fatal }).decode(bytes)
}

/** The characters of Windows-1252 from 0x80 on, in place of which Node 20 has control characters. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ'

/** The text of bytes that are not UTF-8: Windows-1252, unless some of them certainly are a character of UTF-8. */
export function decodeOther(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  if (/[\xc2-\xf4][\x80-\xbf]/.test(text)) return decodeText(bytes, false)
  return text.replace(/[\x80-\x9f]/g, (letter) => WINDOWS_1252[letter.charCodeAt(0) - 0x80]!)
}

const BOM = Buffer.from('\u{FEFF}')

/** A line in UTF-8 without a mark. The line feed of UTF-16 leaves its zero in front of the next line. */
export function asUtf8(line: Buffer): Buffer {
  const bytes = line[0] === 0 ? line.subarray(1) : line
  if (encodingOf(bytes) !== 'utf-8') return Buffer.from(decodeText(bytes, false))
  return bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes
}
