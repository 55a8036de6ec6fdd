// A line of the record as an entry, and which entries are asked for. Pure.
import { readLine } from './chain.ts'
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

/** An entry of the record; undefined for a line about the record itself, and for an invalid line. */
export function entryOf(line: string): RecordEntry | undefined {
  const read = readLine(line)
  if (!read) return undefined
  const { time, type } = read.fields
  if (typeof time !== 'string' || typeof type !== 'string' || type.startsWith('record.')) return undefined
  return { time, type, fields: read.fields, line }
}

/** A field as text; empty when it is not a text. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** The run that an entry belongs to; empty where it belongs to none. */
export function runOf(fields: Fields): string {
  return textOf(fields, 'sandbridge.run.id')
}

export function matches(entry: RecordEntry, filter: RecordFilter): boolean {
  const { time, fields } = entry
  const { runs, session, server, denied, since } = filter
  if (runs !== undefined && !runs.some((run) => runOf(fields).startsWith(run))) return false
  if (since !== undefined && Date.parse(time) < since) return false
  if (session !== undefined && !textOf(fields, 'sandbridge.session.id').startsWith(session)) return false
  if (server !== undefined && fields['mcp.server.name'] !== server) return false
  return !denied || isRefused(entry)
}

/** A rule or the user denied a call, or the question was not answered. */
export function isRefused({ type, fields }: RecordEntry): boolean {
  // As MCP has it, or as one of the policy's own answers: `yes`, `yes-session`.
  return type === 'denial' || (type === 'answer' && !/^(accept|yes)/.test(textOf(fields, 'sandbridge.answer')))
}
