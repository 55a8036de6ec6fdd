// Reads zip archives and verifies their checksums.
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, openPromise, type ZipFile } from 'yauzl'

export interface ZipEntry {
  name: string
  /** Unix mode: file type and permissions; 0 if the archive has none. */
  mode: number
  data: Buffer
}

/** Names as they are: the library would turn a backslash into a slash. */
const OPTIONS = { decodeStrings: false, autoClose: false }

/** True if the name leads to a file below the target folder, on any system. */
export function isSafeName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (name.startsWith('/') || /[\\:\u0000-\u001f]/.test(name)) return false
  return name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/**
 * Returns all files of an archive, without folders, one at a time.
 * @param archive its bytes, or the path of its file
 * @param maxBytes limit for their total unpacked size
 * @throws Error that says what is wrong with the archive
 */
export async function* zipEntries(archive: Buffer | string, maxBytes: number): AsyncGenerator<ZipEntry> {
  const opened = typeof archive === 'string' ? openPromise(archive, OPTIONS) : fromBufferPromise(archive, OPTIONS)
  const zip = await opened.catch(rethrow('it is not a zip archive'))
  try {
    const entries = zip.eachEntry()
    const next = () => entries.next().catch(rethrow('its list of files is damaged'))
    let left = maxBytes
    for (let one = await next(); one.done !== true; one = await next()) {
      const entry = one.value
      left -= entry.uncompressedSize
      if (left < 0) throw new Error(`it has more than ${maxBytes >> 20} MiB unpacked`)
      const name = entry.fileNameRaw.toString()
      if (name.endsWith('/')) continue
      yield { name, mode: entry.externalFileAttributes >>> 16, data: await read(zip, entry, name) }
    }
  } finally {
    zip.close()
  }
}

async function read(zip: ZipFile, entry: Entry, name: string): Promise<Buffer> {
  if (!entry.canDecodeFileData()) throw new Error(`${name} uses an unsupported compression method`)
  const stream = zip.openReadStreamPromise(entry)
  const data = await stream.then(buffer).catch(rethrow(`${name} is damaged`))
  if (crc32(data) !== entry.crc32) throw new Error(`${name} is damaged`)
  return data
}

/** The library's messages name no file. Those of the system stay. */
function rethrow(message: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof Error && 'syscall' in error ? error : new Error(message, { cause: error })
  }
}
