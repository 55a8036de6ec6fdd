// Reads a zip archive in memory and verifies checksums. Supports what wheels and MCPB files use: stored and deflated
// entries, no zip64. (APPNOTE.TXT 6.3.10, sections 4.3.12 and 4.3.16.) Pure.
import { crc32, inflateRawSync } from 'node:zlib'

export interface ZipEntry {
  name: string
  /** Unix mode: file type and permissions; 0 if the archive has none. */
  mode: number
  data: Buffer
}

const END_BYTES = 22
const END_SIGNATURE = 0x06054b50
const CENTRAL_SIGNATURE = 0x02014b50
const LOCAL_SIGNATURE = 0x04034b50

/**
 * Returns all files of an archive, without folders.
 * @param maxBytes limit for their total unpacked size
 * @throws Error that says what is wrong with the archive
 */
export function readZip(archive: Buffer, maxBytes: number): ZipEntry[] {
  return [...zipEntries(archive, maxBytes)]
}

/** True if the name leads to a file below the target folder, on any system. */
export function isSafeName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (name.startsWith('/') || /[\\:\u0000-\u001f]/.test(name)) return false
  return name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** Like `readZip`, one entry at a time. */
export function* zipEntries(archive: Buffer, maxBytes: number): Generator<ZipEntry> {
  const end = findEnd(archive)
  const count = archive.readUInt16LE(end + 10)
  let at = archive.readUInt32LE(end + 16)
  let left = maxBytes
  for (let index = 0; index < count; index += 1) {
    need(at + 46 <= archive.length && archive.readUInt32LE(at) === CENTRAL_SIGNATURE, 'its list of files is damaged')
    const sizeBytes = archive.readUInt32LE(at + 24)
    const nameLength = archive.readUInt16LE(at + 28)
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    left -= sizeBytes
    need(left >= 0, `it has more than ${maxBytes >> 20} MiB unpacked`)
    const mode = archive.readUInt16LE(at + 40)
    if (!name.endsWith('/')) yield { name, mode, data: readEntry(archive, at, sizeBytes, name) }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
}

function findEnd(archive: Buffer): number {
  // A comment of up to 64 KiB may follow it.
  const first = Math.max(0, archive.length - END_BYTES - 0xffff)
  for (let at = archive.length - END_BYTES; at >= first; at -= 1) {
    if (archive.readUInt32LE(at) === END_SIGNATURE) return at
  }
  throw new Error('it is not a zip archive')
}

function readEntry(archive: Buffer, central: number, sizeBytes: number, name: string): Buffer {
  const encrypted = (archive.readUInt16LE(central + 8) & 1) !== 0
  const method = archive.readUInt16LE(central + 10)
  const checksum = archive.readUInt32LE(central + 16)
  const packedBytes = archive.readUInt32LE(central + 20)
  const local = archive.readUInt32LE(central + 42)
  need(!encrypted && (method === 0 || method === 8), `${name} uses an unsupported compression method`)
  need(local + 30 <= archive.length && archive.readUInt32LE(local) === LOCAL_SIGNATURE, `${name} has an invalid offset`)
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
  const packed = archive.subarray(start, start + packedBytes)
  const data = method === 0 ? packed : inflate(packed, sizeBytes, name)
  need(data.length === sizeBytes && crc32(data) === checksum, `${name} is damaged`)
  return data
}

function inflate(packed: Buffer, sizeBytes: number, name: string): Buffer {
  try {
    // Limited to the claimed size, so that a small file cannot unpack to a huge one.
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, sizeBytes) })
  } catch {
    throw new Error(`${name} is damaged`)
  }
}

function need(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}
