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

const BOM = Buffer.from('\u{FEFF}')

/** A line in UTF-8 without a mark. The line feed of UTF-16 leaves its zero in front of the next line. */
export function asUtf8(line: Buffer): Buffer {
  const bytes = line[0] === 0 ? line.subarray(1) : line
  if (encodingOf(bytes) !== 'utf-8') return Buffer.from(decodeText(bytes, false))
  return bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes
}
