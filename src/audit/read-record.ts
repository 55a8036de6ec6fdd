// Reads the record back: the lines of all bridges, in the order of their times, those that match.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { readLine } from './chain.ts'
import { recordFiles } from './other-files.ts'
import type { Fields } from './record-fields.ts'

/** What `sandbridge log` can ask for. */
export interface RecordFilter {
  /** Runs, by the beginning of their ids. */
  runs?: readonly string[]
  session?: string
  server?: string
  /** Denied calls and declined questions only. */
  denied?: boolean
  /** Milliseconds since 1970. */
  since?: number
}

export interface RecordEntry {
  time: string
  type: string
  fields: Fields
  /** As the file has it. */
  line: string
}

/** The newest entries that match, oldest first. */
export async function readRecord(folder: string, filter: RecordFilter, limit: number): Promise<RecordEntry[]> {
  let found: RecordEntry[] = []
  for (const name of (await recordFiles(folder)).toReversed()) {
    const file = path.join(folder, name)
    const changedAt = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    )
    if (filter.since !== undefined && changedAt < filter.since) continue
    const oldest = found[0]
    // What it holds is older than all that will be shown.
    if (oldest && found.length >= limit && changedAt < Date.parse(oldest.time)) continue
    const entries: RecordEntry[] = []
    for await (const line of linesOf(file)) {
      const entry = entryOf(line)
      if (!entry || !matches(entry, filter)) continue
      entries.push(entry)
      if (entries.length > 2 * limit) entries.splice(0, entries.length - limit)
    }
    found = [...found, ...entries].toSorted((a, b) => a.time.localeCompare(b.time)).slice(-limit)
  }
  return found
}

/** An entry of the record; undefined for a line that tells of the record itself, or is none. */
export function entryOf(line: string): RecordEntry | undefined {
  const read = readLine(line)
  if (!read) return undefined
  const { time, type } = read.fields
  if (typeof time !== 'string' || typeof type !== 'string' || type.startsWith('record.')) return undefined
  return { time, type, fields: read.fields, line }
}

/** A field as text; empty where it is none. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** The run that an entry belongs to; empty where it belongs to none. */
function runOf(fields: Fields): string {
  return textOf(fields, 'sandbridge.run.id')
}

/** The runs that an id begins, or of which it begins a cell or a call. */
export async function runsOf(folder: string, id: string): Promise<string[]> {
  const names = ['id', 'sandbridge.run.id', 'sandbridge.cell.id']
  const found = new Set<string>()
  for (const name of await recordFiles(folder)) {
    for await (const line of linesOf(path.join(folder, name))) {
      // Most lines need not be parsed.
      const entry = line.includes(id) ? entryOf(line) : undefined
      if (entry && names.some((field) => textOf(entry.fields, field).startsWith(id))) found.add(runOf(entry.fields))
    }
  }
  found.delete('')
  return [...found]
}

function linesOf(file: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(file), crlfDelay: Infinity })
}

export function matches({ time, type, fields }: RecordEntry, filter: RecordFilter): boolean {
  const { runs, session, server, denied, since } = filter
  if (runs !== undefined && !runs.some((run) => runOf(fields).startsWith(run))) return false
  if (since !== undefined && Date.parse(time) < since) return false
  if (session !== undefined && !textOf(fields, 'sandbridge.session.id').startsWith(session)) return false
  if (server !== undefined && fields['mcp.server.name'] !== server) return false
  return (
    !denied || type === 'denial' || (type === 'answer' && !/^(accept|yes.*)$/.test(String(fields['sandbridge.answer'])))
  )
}
