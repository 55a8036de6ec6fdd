// `TextEncoder` and `TextDecoder`, which QuickJS lacks.
import { Buffer } from 'buffer/'

export class TextEncoder {
  readonly encoding = 'utf-8'

  encode(text: unknown = ''): Uint8Array {
    return new Uint8Array(Buffer.from(String(text)))
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
      ? Buffer.from(input.buffer as ArrayBuffer, input.byteOffset, input.byteLength)
      : Buffer.from(input)
    return bytes.toString().replace(/^\uFEFF/, '')
  }
}
