// Parses record lines into entries, and filters them. Pure.
import { readLine } from './chain.ts'
import type { Fields } from './record-fields.ts'

/** Filters of `sandbridge log`. */
export interface RecordFilter {
  /** Prefixes of run ids. */
  runs?: readonly string[]
  session?: string
  server?: string
  /** Only denied calls and declined questions. */
  denied?: boolean
  /** Milliseconds since 1970. */
  since?: number
}

export interface RecordEntry {
  time: string
  type: string
  fields: Fields
  /** The line as in the file. */
  line: string
}

/** Parses an entry; undefined for an invalid line, or one about the record itself. */
export function entryOf(line: string): RecordEntry | undefined {
  const read = readLine(line)
  if (!read) return undefined
  const { time, type } = read.fields
  if (typeof time !== 'string' || typeof type !== 'string' || type.startsWith('record.')) return undefined
  return { time, type, fields: read.fields, line }
}

/** Returns a field's text; empty if it is not a string. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** Returns the run id of an entry; empty if it belongs to no run. */
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

/** True if a rule or the user denied a call, or a question was not accepted. */
export function isRefused({ type, fields }: RecordEntry): boolean {
  // An answer is one of MCP's, or one of the policy's own: `yes`, `yes-session`.
  return type === 'denial' || (type === 'answer' && !/^(accept|yes)/.test(textOf(fields, 'sandbridge.answer')))
}
