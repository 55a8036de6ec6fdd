// Lists and prunes the record's files. Each begins with the last lines of others: truncation there shows.
import type { LogInfo, Logs, Store } from '@sandbridge/core/util/stores'
import { itemsOf } from '@sandbridge/core/util/json/json.ts'
import { readLine } from './chain.ts'

const MAX_WITNESSED = 16
const NAME = /^\d{8}T\d{6}Z-\d+-[0-9a-f]{6}-\d+\.jsonl$/

export interface Witness {
  file: string
  hash: string
}

export function recordIn(store: Store): Logs {
  return store.logs('audit')
}

/** Returns the files of a record, oldest first. */
export async function recordFiles(logs: Logs): Promise<LogInfo[]> {
  const files = (await logs.list()).filter(({ name }) => NAME.test(name))
  // A bridge's tenth file comes after its ninth.
  return files.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
}

/** Returns the hash of the last valid line of each of the newest files. */
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

/** Names of pruned files that a first line has: more are of no use to any file that is left. */
const MAX_PRUNED = 500

/**
 * Deletes the files that were written longest ago, beyond the limit.
 * @returns their names, and those that were pruned earlier and only named in one of them
 */
export async function pruneRecord(logs: Logs, maxBytes: number): Promise<string[]> {
  // Not by name: the name of a long session's newest file has the time of the session's start.
  const files = (await recordFiles(logs)).toSorted((a, b) => a.changedAt - b.changedAt)
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const pruned: string[] = []
  for (const { name, bytes } of files) {
    if (total <= maxBytes) break
    const earlier = await prunedBefore(logs, name)
    await logs.remove(name)
    total -= bytes
    pruned.push(name, ...earlier)
  }
  return pruned.slice(-MAX_PRUNED)
}

async function prunedBefore(logs: Logs, name: string): Promise<string[]> {
  for await (const first of logs.lines(name)) return stringsOf(readLine(first)?.fields['sandbridge.pruned'])
  return []
}

export function stringsOf(value: unknown): string[] {
  return itemsOf(value).filter((one) => typeof one === 'string')
}
