// The files of other bridges beside ours: their last lines are written into our first one, so that a cut at their end shows, and the oldest are deleted.
import { open, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { readLine } from './chain.ts'

/** All files of the record together may take this much; then the oldest are deleted, and the next first line says so. */
const MAX_TOTAL_BYTES = 256 << 20
const MAX_WITNESSED = 16
/** Enough for the longest line. */
const TAIL_BYTES = 64 << 10
const NAME = /^\d{8}T\d{6}Z-\d+-[0-9a-f]{6}-\d+\.jsonl$/

export interface Witness {
  file: string
  hash: string
}

/** Where the record of a state folder lies. */
export function recordFolder(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'audit')
}

/** The names of the files of a record, oldest first. */
export async function recordFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => NAME.test(name)).toSorted(inOrder)
}

/** A bridge's second file comes after its first one, and its tenth after its ninth. */
function inOrder(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

/** The last whole line of the newest files. */
export async function witnesses(folder: string): Promise<Witness[]> {
  const names = (await recordFiles(folder)).slice(-MAX_WITNESSED)
  const found = await Promise.all(
    names.map(async (file) => {
      const hash = await lastHash(path.join(folder, file)).catch(() => undefined)
      return hash === undefined ? [] : [{ file, hash }]
    }),
  )
  return found.flat()
}

async function lastHash(file: string): Promise<string | undefined> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const start = Math.max(0, size - TAIL_BYTES)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start)
    // A last line that is being written has no end yet.
    const [last] = buffer.toString('utf8', 0, bytesRead).split('\n').slice(0, -1).slice(-1)
    return last === undefined ? undefined : readLine(last)?.hash
  } finally {
    await handle.close()
  }
}

/** @returns the names of the files that were deleted */
export async function pruneRecord(folder: string, maxBytes = MAX_TOTAL_BYTES): Promise<string[]> {
  const names = await recordFiles(folder)
  const sizes = await Promise.all(
    names.map((name) =>
      stat(path.join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  let total = sizes.reduce((sum, size) => sum + size, 0)
  const pruned: string[] = []
  for (const [index, name] of names.entries()) {
    if (total <= maxBytes) break
    await rm(path.join(folder, name), { force: true }).catch(() => {})
    total -= sizes[index]!
    pruned.push(name)
  }
  return pruned
}
