// Functions that Node 20.19 has got later than some newer versions were released: 21, and 22 before 22.3, lack them.
import type { BinaryLike, BinaryToTextEncoding } from 'node:crypto'

type Load = (name: string) => Record<string, unknown>

/** @param load `require` */
export function fillGaps(load: Load): void {
  const { createHash } = load('crypto') as unknown as typeof import('node:crypto')
  const hash = (algorithm: string, data: BinaryLike, encoding: BinaryToTextEncoding = 'hex'): string =>
    createHash(algorithm).update(data).digest(encoding)
  const missing = { crypto: { hash }, util: { styleText: (_style: unknown, text: string) => text }, zlib: { crc32 } }
  for (const [name, functions] of Object.entries(missing)) {
    const module = load(name)
    for (const [key, value] of Object.entries(functions)) if (module[key] === undefined) module[key] = value
  }
  process.getBuiltinModule = load
}

let table: Int32Array | undefined

function crc32(data: string | Uint8Array, before = 0): number {
  table ??= new Int32Array(256).map((_, index) => {
    let remainder = index
    for (let bit = 0; bit < 8; bit++) remainder = (remainder & 1 ? 0xed_b8_83_20 : 0) ^ (remainder >>> 1)
    return remainder
  })
  let sum = ~before
  for (const byte of typeof data === 'string' ? Buffer.from(data) : data) sum = table[(sum ^ byte) & 255]! ^ (sum >>> 8)
  return ~sum >>> 0
}
