// Many files as two: their bytes, and an index. Every start of a sandbox reads and writes them.

/** Concatenated files, and a JSON list of [path, start, end]. */
export interface PackedFiles {
  index: string
  data: Buffer
}

type Entry = [path: string, start: number, end: number]

/** @param files `path` is absolute */
export function packFiles(files: readonly { path: string; data: Buffer }[]): PackedFiles {
  let at = 0
  const index = files.map(({ path, data }): Entry => [path, at, (at += data.length)])
  return { index: JSON.stringify(index), data: Buffer.concat(files.map((file) => file.data)) }
}

/** Puts files behind others. */
export function appendFiles(files: PackedFiles, more: PackedFiles): PackedFiles {
  const start = files.data.length
  const [first, second] = [files, more].map(({ index }) => JSON.parse(index) as Entry[])
  const moved = second!.map(([path, from, to]): Entry => [path, start + from, start + to])
  return { index: JSON.stringify([...first!, ...moved]), data: Buffer.concat([files.data, more.data]) }
}
