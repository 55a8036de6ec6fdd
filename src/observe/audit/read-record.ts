// Reads matching entries of all bridges back, in the order of time.
import type { Logs } from '../../keep/store.ts'
import { recordFiles } from './other-files.ts'
import { entryOf, matches, type RecordEntry, type RecordFilter, runOf, textOf } from './record-entry.ts'

/** Returns the newest matching entries, oldest first. */
export async function readRecord(logs: Logs, filter: RecordFilter, limit: number): Promise<RecordEntry[]> {
  let found: RecordEntry[] = []
  for (const { name, changedAt } of (await recordFiles(logs)).toReversed()) {
    if (filter.since !== undefined && changedAt < filter.since) continue
    const oldest = found[0]
    // All entries in this file are older than the result.
    if (oldest && found.length >= limit && changedAt < Date.parse(oldest.time)) continue
    const entries: RecordEntry[] = []
    for await (const line of logs.lines(name)) {
      const entry = entryOf(line)
      if (!entry || !matches(entry, filter)) continue
      entries.push(entry)
      if (entries.length > 2 * limit) entries.splice(0, entries.length - limit)
    }
    found = [...found, ...entries].toSorted((a, b) => a.time.localeCompare(b.time)).slice(-limit)
  }
  return found
}

/** Returns the runs whose id, or whose cell's or call's id, starts with `id`. */
export async function runsOf(logs: Logs, id: string): Promise<string[]> {
  const names = ['id', 'sandbridge.run.id', 'sandbridge.cell.id']
  const found = new Set<string>()
  for (const { name } of await recordFiles(logs)) {
    for await (const line of logs.lines(name)) {
      // Most lines need no parsing.
      const entry = line.includes(id) ? entryOf(line) : undefined
      if (entry && names.some((field) => textOf(entry.fields, field).startsWith(id))) found.add(runOf(entry.fields))
    }
  }
  found.delete('')
  return [...found]
}
