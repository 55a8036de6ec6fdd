// Zip files (APPNOTE 6.3) with uncompressed entries: equal entries give equal bytes, the content is never larger than
// the file, and any tool opens them. Files to read come from strangers: one with contradictory headers is refused as a
// whole.
import { open, type FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const LOCAL_BYTES = 30
const CENTRAL_BYTES = 46
const END_BYTES = 22
/** 1 January 1980, the earliest date in a zip file. */
const DATE = 0x21
const UTF8_NAMES = 0x800
const MAX_FILE_BYTES = 0xffff_fffe
const MAX_ENTRIES = 20_000
const MAX_NAME_BYTES = 1_000
/** Upper half of the attributes: Unix mode of a regular file, readable by all. */
const PLAIN_FILE = 0o100644

/** Says why a zip file is refused, as the end of a sentence about the file. */
export class ZipError extends Error {
  override readonly name = 'ZipError'
}

/** Writes one entry after the other, with at most one in memory. */
export class ZipWriter {
  readonly #handle: FileHandle
  readonly #central: Buffer[] = []
  #offset = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** The file must not exist. @throws what node:fs throws */
  static async create(file: string): Promise<ZipWriter> {
    return new ZipWriter(await open(file, 'wx', 0o600))
  }

  /** @throws ZipError if the file exceeds the size limit of a zip */
  async add(name: string, data: Uint8Array): Promise<void> {
    const nameBytes = Buffer.from(name)
    if (this.#offset + data.length > MAX_FILE_BYTES - (64 << 20) || this.#central.length >= MAX_ENTRIES)
      throw new ZipError('is too large for one file')
    const local = Buffer.alloc(LOCAL_BYTES)
    local.writeUInt32LE(LOCAL, 0)
    const common = commonFields(nameBytes, data)
    common.copy(local, 4)
    const central = Buffer.alloc(CENTRAL_BYTES)
    central.writeUInt32LE(CENTRAL, 0)
    central.writeUInt16LE((3 << 8) | 20, 4)
    common.copy(central, 6)
    central.writeUInt32LE((PLAIN_FILE << 16) >>> 0, 38)
    central.writeUInt32LE(this.#offset, 42)
    this.#central.push(Buffer.concat([central, nameBytes]))
    for (const part of [local, nameBytes, data]) await this.#write(part)
  }

  async finish(): Promise<void> {
    const start = this.#offset
    for (const record of this.#central) await this.#write(record)
    const end = Buffer.alloc(END_BYTES)
    end.writeUInt32LE(END, 0)
    end.writeUInt16LE(this.#central.length, 8)
    end.writeUInt16LE(this.#central.length, 10)
    end.writeUInt32LE(this.#offset - start, 12)
    end.writeUInt32LE(start, 16)
    await this.#write(end)
    await this.#handle.sync()
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  async #write(part: Uint8Array): Promise<void> {
    await this.#handle.writeFile(part)
    this.#offset += part.length
  }
}

/** The fields from `version needed` to the length of the extra field, which both headers share. */
function commonFields(name: Buffer, data: Uint8Array): Buffer {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(20, 0)
  fields.writeUInt16LE(UTF8_NAMES, 2)
  fields.writeUInt16LE(DATE, 8)
  fields.writeUInt32LE(crc32(data), 10)
  fields.writeUInt32LE(data.length, 14)
  fields.writeUInt32LE(data.length, 18)
  fields.writeUInt16LE(name.length, 22)
  return fields
}

interface Entry {
  start: number
  size: number
}

export class ZipReader {
  readonly #handle: FileHandle
  readonly #entries = new Map<string, Entry>()

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** @throws ZipError, and what node:fs throws */
  static async open(file: string): Promise<ZipReader> {
    const handle = await open(file, 'r')
    try {
      const reader = new ZipReader(handle)
      await reader.#readDirectory((await handle.stat()).size)
      return reader
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  size(name: string): number {
    return this.#entries.get(name)?.size ?? 0
  }

  /** @throws ZipError if there is no such entry */
  async read(name: string): Promise<Buffer> {
    const entry = this.#entries.get(name)
    if (!entry) throw new ZipError(`has no ${name}`)
    return this.#bytes(entry.start, entry.size)
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  async #readDirectory(fileSize: number): Promise<void> {
    if (fileSize < END_BYTES || fileSize > MAX_FILE_BYTES) throw new ZipError('is not a zip file')
    const end = await this.#bytes(fileSize - END_BYTES, END_BYTES)
    const count = end.readUInt16LE(10)
    const size = end.readUInt32LE(12)
    const start = end.readUInt32LE(16)
    if (end.readUInt32LE(0) !== END || start + size !== fileSize - END_BYTES)
      throw new ZipError('is not a plain zip file')
    if (count > MAX_ENTRIES || size > count * (CENTRAL_BYTES + MAX_NAME_BYTES))
      throw new ZipError('has too many entries')
    const directory = await this.#bytes(start, size)
    let at = 0
    let expected = 0
    for (let index = 0; index < count; index += 1) {
      if (at + CENTRAL_BYTES > size || directory.readUInt32LE(at) !== CENTRAL) throw new ZipError('is damaged')
      const common = directory.subarray(at + 6, at + 32)
      const nameLength = common.readUInt16LE(22)
      const name = directory.subarray(at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameLength).toString()
      this.#checkEntry(name, directory.subarray(at, at + CENTRAL_BYTES), common)
      const bytes = common.readUInt32LE(14)
      const offset = directory.readUInt32LE(at + 42)
      // Entries follow each other without gaps, so none overlaps another or is hidden.
      if (offset !== expected) throw new ZipError('has entries that overlap or hide something')
      const data = offset + LOCAL_BYTES + nameLength
      await this.#checkLocal(offset, common, name)
      this.#entries.set(name, { start: data, size: bytes })
      expected = data + bytes
      at += CENTRAL_BYTES + nameLength
    }
    if (expected !== start || at !== size) throw new ZipError('has bytes that belong to no entry')
  }

  #checkEntry(name: string, central: Buffer, common: Buffer): void {
    const mode = central.readUInt16LE(40)
    const isLinkOrOther = mode !== 0 && (mode & 0o170000) !== 0o100000 && (mode & 0o170000) !== 0
    if (isLinkOrOther) throw new ZipError(`has an entry that is not a plain file: ${shown(name)}`)
    if (common.readUInt16LE(4) !== 0 || common.readUInt32LE(14) !== common.readUInt32LE(18))
      throw new ZipError(`has a compressed entry, which is not read: ${shown(name)}`)
    const extras = common.readUInt16LE(24) + central.readUInt16LE(32)
    if ((common.readUInt16LE(2) & ~UTF8_NAMES) !== 0 || extras !== 0) throw new ZipError('is not a plain zip file')
    const parts = name.split('/')
    const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..')
    if (!isPlain || /[\\:\0]/.test(name)) throw new ZipError(`has an entry outside of it: ${shown(name)}`)
    if (this.#entries.has(name)) throw new ZipError(`has two entries of one name: ${shown(name)}`)
  }

  async #checkLocal(offset: number, common: Buffer, name: string): Promise<void> {
    const nameBytes = Buffer.from(name)
    const local = await this.#bytes(offset, LOCAL_BYTES + nameBytes.length)
    const isSame = local.readUInt32LE(0) === LOCAL && common.equals(local.subarray(4, LOCAL_BYTES))
    if (!isSame || !nameBytes.equals(local.subarray(LOCAL_BYTES))) throw new ZipError(`is damaged at ${shown(name)}`)
  }

  async #bytes(position: number, length: number): Promise<Buffer> {
    const data = Buffer.alloc(length)
    const { bytesRead } = await this.#handle.read(data, 0, length, position)
    if (bytesRead < length) throw new ZipError('is cut off')
    return data
  }
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}
