// Follows the record: returns entries that any bridge adds from now on.
import type { Logs } from '../../keep/store.ts'
import { recordFiles } from './other-files.ts'
import { entryOf, matches, type RecordEntry, type RecordFilter } from './record-entry.ts'

/** Starts at the current end of the record. */
export async function followRecord(logs: Logs): Promise<{ next(filter: RecordFilter): Promise<RecordEntry[]> }> {
  const places = new Map((await recordFiles(logs)).map(({ name, end }) => [name, end]))
  return {
    next: async (filter) => {
      const found: RecordEntry[] = []
      for (const { name, end } of await recordFiles(logs)) {
        const from = places.get(name) ?? 0
        if (end <= from) continue
        const { lines, place } = await logs.linesAfter(name, from)
        places.set(name, place)
        for (const line of lines) {
          const entry = entryOf(line)
          if (entry && matches(entry, filter)) found.push(entry)
        }
      }
      return found.toSorted((a, b) => a.time.localeCompare(b.time))
    },
  }
}
