// Reads matching entries of all bridges back, in the order of time.
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Logs } from '@sandbridge/core/util/stores'
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

/**
 * Returns the runs whose id, or whose cell's or call's id, starts with `text`.
 * @throws BridgeError TOOL_ARGUMENTS_INVALID for an invalid id, STATE_NOT_FOUND for one that is not in the record
 */
export async function runsNamed(logs: Logs, text: string): Promise<string[]> {
  const id = text.toLowerCase()
  if (!/^[0-9a-f]{4,16}$/.test(id)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `'${text}' is not an id`, {
      hint: 'Write the 8 digits that `sandbridge log` and the error show, or at least 4 of them.',
    })
  }
  const names = ['id', 'run', 'cell']
  const found = new Set<string>()
  for (const { name } of await recordFiles(logs)) {
    for await (const line of logs.lines(name)) {
      // Most lines need no parsing.
      const entry = line.includes(id) ? entryOf(line) : undefined
      if (entry && names.some((field) => textOf(entry.fields, field).startsWith(id))) found.add(runOf(entry.fields))
    }
  }
  found.delete('')
  if (found.size > 0) return [...found]
  throw new BridgeError('STATE_NOT_FOUND', `The audit log has no run, cell or call '${id}'`, {
    hint: 'A run has its line when it has ended. With MCP_BRIDGE_AUDIT=off there is no record.',
  })
}
