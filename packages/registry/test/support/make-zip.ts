// Makes a zip archive like common tools: entries with Unix modes, deflated unless they are to be stored.
import { type ZippableFile, zipSync } from 'fflate'

export interface ZipFile {
  name: string
  data: string | Buffer
  isStored?: boolean
  /** As in `stat`; a regular file by default. */
  mode?: number
}

const UNIX = 3

export function makeZip(files: readonly ZipFile[]): Buffer {
  const entries = files.map(({ name, data, isStored = false, mode = 0o100644 }): [string, ZippableFile] => [
    name,
    [Buffer.from(data), { level: isStored ? 0 : 6, os: UNIX, attrs: (mode << 16) >>> 0 }],
  ])
  return Buffer.from(zipSync(Object.fromEntries(entries)))
}
