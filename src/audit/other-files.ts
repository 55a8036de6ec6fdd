// The files of other bridges beside ours: their last lines are written into our first one, so that a cut at their end shows, and the oldest are deleted.
import type { LogInfo, Logs, Store } from '../storage/store.ts'
import { readLine } from './chain.ts'

/** All files of the record together may take this much; then the oldest are deleted, and the next first line says so. */
const MAX_TOTAL_BYTES = 256 << 20
const MAX_WITNESSED = 16
const NAME = /^\d{8}T\d{6}Z-\d+-[0-9a-f]{6}-\d+\.jsonl$/

export interface Witness {
  file: string
  hash: string
}

/** Where the record lies in what is kept for the owner of the bridge. */
export function recordIn(store: Store): Logs {
  return store.logs('audit')
}

/** The files of a record, oldest first. */
export async function recordFiles(logs: Logs): Promise<LogInfo[]> {
  return (await logs.list()).filter(({ name }) => NAME.test(name)).toSorted(inOrder)
}

/** A bridge's second file comes after its first one, and its tenth after its ninth. */
function inOrder(a: LogInfo, b: LogInfo): number {
  return a.name.localeCompare(b.name, 'en', { numeric: true })
}

/** The last whole line of the newest files. */
export async function witnesses(logs: Logs): Promise<Witness[]> {
  const found = await Promise.all(
    (await recordFiles(logs)).slice(-MAX_WITNESSED).map(async ({ name }) => {
      const last = await logs.lastLine(name)
      const hash = last === undefined ? undefined : readLine(last)?.hash
      return hash === undefined ? [] : [{ file: name, hash }]
    }),
  )
  return found.flat()
}

/** @returns the names of the files that were deleted */
export async function pruneRecord(logs: Logs, maxBytes = MAX_TOTAL_BYTES): Promise<string[]> {
  const files = await recordFiles(logs)
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const pruned: string[] = []
  for (const { name, bytes } of files) {
    if (total <= maxBytes) break
    await logs.remove(name)
    total -= bytes
    pruned.push(name)
  }
  return pruned
}
