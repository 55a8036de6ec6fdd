// Makes a wheel for tests, valid or broken, without an index, an installer or a network.
import { createHash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'

export interface WheelOptions {
  name?: string
  version?: string
  /** The tag of compatible Pythons. */
  tag?: string
  /** Path in the wheel → content. */
  files?: Record<string, string | Buffer>
  /** Names of packages that it needs. */
  requires?: string[]
  /** Changes the finished RECORD. */
  record?: (text: string) => string
  stored?: boolean
}

/** A wheel and its file name. */
export function makeWheel({
  name = 'tinypkg',
  version = '1.0',
  tag = 'py3-none-any',
  files,
  requires = [],
  record = (text) => text,
  stored = false,
}: WheelOptions = {}) {
  const info = `${name}-${version}.dist-info`
  const all: Record<string, string | Buffer> = {
    ...(files ?? { [`${name}/__init__.py`]: `from .answer import ANSWER\n`, [`${name}/answer.py`]: 'ANSWER = 42\n' }),
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n${requires.map((one) => `Requires-Dist: ${one}\n`).join('')}`,
    [`${info}/WHEEL`]: `Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: ${tag}\n`,
  }
  const hash = (text: string | Buffer) => createHash('sha256').update(text).digest('base64url')
  const lines = Object.entries(all).map(([path, text]) => `${path},sha256=${hash(text)},${Buffer.byteLength(text)}`)
  all[`${info}/RECORD`] = record(`${[...lines, `${info}/RECORD,,`].join('\n')}\n`)
  return { fileName: `${name}-${version}-${tag}.whl`, data: makeZip(all, stored) }
}

export function makeZip(files: Record<string, string | Buffer>, stored = false): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [path, text] of Object.entries(files)) {
    const data = typeof text === 'string' ? Buffer.from(text) : text
    const packed = stored ? data : deflateRawSync(data)
    const name = Buffer.from(path)
    // Version, flags, method, time, date, checksum, sizes, lengths: the part that both headers share.
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(stored ? 0 : 8, 4)
    shared.writeUInt32LE(checksum(data), 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(data.length, 18)
    shared.writeUInt16LE(name.length, 22)
    bodies.push(Buffer.from('PK\u0003\u0004'), shared, name, packed)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\u0001\u0002\u0014\0'), shared, tail, name)
    offset += 4 + shared.length + name.length + packed.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006')
  end.writeUInt16LE(Object.keys(files).length, 8)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, list, end])
}

/** Computed bit by bit, independently of the tested reader. */
function checksum(data: Buffer): number {
  let value = -1
  for (const byte of data) {
    value ^= byte
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (0xedb88320 & -(value & 1))
  }
  return ~value >>> 0
}
