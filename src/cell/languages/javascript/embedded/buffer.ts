// The part of Node's Buffer that code for reading and writing bytes uses.
import { decodeUtf8, encodeUtf8 } from './utf8.ts'

type Encoding = 'utf8' | 'utf-8' | 'base64' | 'base64url' | 'hex' | 'latin1' | 'binary' | 'ascii'

export class Buffer extends Uint8Array {
  static override from(value: any, encodingOrMap?: any, length?: number): Buffer {
    if (typeof value === 'string') return own(encode(value, encodingOrMap))
    if (value instanceof ArrayBuffer) return new Buffer(value, encodingOrMap ?? 0, length)
    const bytes = ArrayBuffer.isView(value) ? bytesOf(value) : Uint8Array.from(value as Iterable<number>)
    return own(bytes.slice())
  }

  static alloc(size: number, fill: string | number = 0): Buffer {
    const made = new Buffer(size)
    return fill === 0 ? made : made.fill(fill)
  }

  static concat(list: readonly Uint8Array[]): Buffer {
    const made = new Buffer(list.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const one of list) {
      made.set(one, at)
      at += one.length
    }
    return made
  }

  static isBuffer(value: unknown): boolean {
    return value instanceof Buffer
  }

  static byteLength(text: string, encoding?: Encoding): number {
    return encode(text, encoding).length
  }

  override fill(value: any, start?: number, end?: number): this {
    if (typeof value === 'number') return super.fill(value, start, end)
    const bytes = encodeUtf8(String(value))
    for (let at = 0; at < this.length; at += 1) this[at] = bytes[at % bytes.length] ?? 0
    return this
  }

  override toString(encoding: Encoding = 'utf8', start = 0, end = this.length): string {
    const bytes = this.subarray(start, end)
    if (encoding === 'base64' || encoding === 'base64url') {
      const text = btoa(latin1(bytes))
      return encoding === 'base64' ? text : text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
    }
    if (encoding === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
    return encoding === 'utf8' || encoding === 'utf-8' ? decodeUtf8(bytes) : latin1(bytes)
  }

  equals(other: Uint8Array): boolean {
    return this.length === other.length && this.every((byte, at) => byte === other[at])
  }

  toJSON(): unknown {
    return { type: 'Buffer', data: [...this] }
  }
}

function own(bytes: Uint8Array): Buffer {
  return new Buffer(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength)
}

function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

function encode(text: string, encoding: Encoding = 'utf8'): Uint8Array {
  if (encoding === 'base64' || encoding === 'base64url') {
    const plain = text
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .replace(/[^A-Za-z0-9+/]/g, '')
    return bytesOfLatin1(atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain))
  }
  if (encoding === 'hex') return Uint8Array.from(text.match(/[0-9a-f]{2}/gi) ?? [], (pair) => Number.parseInt(pair, 16))
  return encoding === 'utf8' || encoding === 'utf-8' ? encodeUtf8(text) : bytesOfLatin1(text)
}

function bytesOfLatin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at)
  return bytes
}

function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8000) text += String.fromCharCode(...bytes.subarray(at, at + 8000))
  return text
}
