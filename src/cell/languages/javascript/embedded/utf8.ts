// UTF-8 encoding and decoding, which QuickJS lacks.

export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 3)
  let at = 0
  for (const character of text) {
    const found = character.codePointAt(0)!
    const code = found >= 0xd800 && found <= 0xdfff ? 0xfffd : found
    if (code < 0x80) bytes[at++] = code
    else if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >> 6)
      bytes[at++] = 0x80 | (code & 63)
    } else {
      if (code < 0x10000) bytes[at++] = 0xe0 | (code >> 12)
      else {
        bytes[at++] = 0xf0 | (code >> 18)
        bytes[at++] = 0x80 | ((code >> 12) & 63)
      }
      bytes[at++] = 0x80 | ((code >> 6) & 63)
      bytes[at++] = 0x80 | (code & 63)
    }
  }
  return bytes.slice(0, at)
}

/** Replaces invalid bytes with U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  let text = ''
  let codes: number[] = []
  for (let at = 0; at < bytes.length;) {
    const [code, length] = characterAt(bytes, at)
    codes.push(code)
    at += length
    if (codes.length < 8000 && at < bytes.length) continue
    text += String.fromCodePoint(...codes)
    codes = []
  }
  return text
}

function characterAt(bytes: Uint8Array, at: number): [code: number, length: number] {
  const first = bytes[at]!
  if (first < 0x80) return [first, 1]
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (first < 0xc2 || first > 0xf4) return [0xfffd, 1]
  let code = first & (0xff >> (length + 1))
  for (let n = 1; n < length; n += 1) {
    const next = bytes[at + n] ?? 0
    if ((next & 0xc0) !== 0x80) return [0xfffd, n]
    code = (code << 6) | (next & 63)
  }
  const isShorter = code < [0, 0, 0x80, 0x800, 0x10000][length]!
  const isValid = !isShorter && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return [isValid ? code : 0xfffd, length]
}

export class TextEncoder {
  readonly encoding = 'utf-8'

  encode(text: unknown = ''): Uint8Array {
    return encodeUtf8(String(text))
  }
}

export class TextDecoder {
  readonly encoding = 'utf-8'

  constructor(label = 'utf-8') {
    if (!/^utf-?8$/i.test(label)) throw new RangeError(`Only UTF-8 is here, and not ${label}`)
  }

  decode(input?: ArrayBuffer | ArrayBufferView): string {
    if (input === undefined) return ''
    const bytes = ArrayBuffer.isView(input)
      ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
      : new Uint8Array(input)
    return decodeUtf8(bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes)
  }
}
