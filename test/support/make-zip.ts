// Makes a zip archive like common tools: entries with Unix modes, deflated unless they are to be stored. Tests use
// names that no tool would write.
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipFile {
  name: string
  data: string | Buffer
  isStored?: boolean
  /** As in `stat`; a regular file by default. */
  mode?: number
}

export function makeZip(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const { name, data, isStored = false, mode = 0o100644 } of files) {
    const bytes = Buffer.from(data)
    const packed = isStored ? bytes : deflateRawSync(bytes)
    const nameBytes = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x800, 2)
    common.writeUInt16LE(isStored ? 0 : 8, 4)
    common.writeUInt16LE(0x21, 8)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(nameBytes.length, 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE((mode << 16) >>> 0, 6)
    rest.writeUInt32LE(offset, 10)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, nameBytes, packed])
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), common, rest, nameBytes]))
    parts.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, directory, Buffer.from('PK\x05\x06'), end])
}
