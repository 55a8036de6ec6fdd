// Reads the record back: the lines of all bridges, in the order of their times, those that match.
import type { Logs } from '../storage/store.ts'
import { recordFiles } from './other-files.ts'
import { entryOf, matches, type RecordEntry, type RecordFilter, runOf, textOf } from './record-entry.ts'

/** The newest entries that match, oldest first. */
export async function readRecord(logs: Logs, filter: RecordFilter, limit: number): Promise<RecordEntry[]> {
  let found: RecordEntry[] = []
  for (const { name, changedAt } of (await recordFiles(logs)).toReversed()) {
    if (filter.since !== undefined && changedAt < filter.since) continue
    const oldest = found[0]
    // What it holds is older than all that will be shown.
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

/** The runs that an id begins, or of which it begins a cell or a call. */
export async function runsOf(logs: Logs, id: string): Promise<string[]> {
  const names = ['id', 'sandbridge.run.id', 'sandbridge.cell.id']
  const found = new Set<string>()
  for (const { name } of await recordFiles(logs)) {
    for await (const line of logs.lines(name)) {
      // Most lines need not be parsed.
      const entry = line.includes(id) ? entryOf(line) : undefined
      if (entry && names.some((field) => textOf(entry.fields, field).startsWith(id))) found.add(runOf(entry.fields))
    }
  }
  found.delete('')
  return [...found]
}
