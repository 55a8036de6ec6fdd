// A text that changes when files in folders do. Bounded, so that a large cache costs little.
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { WatchedFolder } from './install-place.ts'

const MAX_ENTRIES = 3_000
/** Package managers touch a lock even when nothing else happens. */
const LOCK = /lock$/

/** Never rejects: a folder that does not exist or cannot be read is empty. */
export async function folderState(watched: readonly WatchedFolder[]): Promise<string> {
  let count = 0
  let bytes = 0
  let latest = 0
  const look = async (place: string, depth: number): Promise<void> => {
    const stat = await lstat(place).catch(() => undefined)
    if (!stat) return
    count += 1
    bytes += stat.size
    latest = Math.max(latest, stat.mtimeMs)
    if (!stat.isDirectory() || depth === 0) return
    const names = await readdir(place).catch((): string[] => [])
    // uv writes to folders whose names begin with a dot, so they come first.
    names.sort((a, b) => (a < b ? -1 : 1))
    for (const name of names) if (count < MAX_ENTRIES && !LOCK.test(name)) await look(path.join(place, name), depth - 1)
  }
  for (const { folder, depth } of watched) await look(folder, depth)
  return [count, bytes, latest].join(' ')
}
