// Parses record lines into entries, and filters them. Pure.
import { fieldsOf } from '@sandbridge/core/util/json/json.ts'
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

/** Returns a field's number; undefined if it is not one. */
export function numberOf(fields: Fields, name: string): number | undefined {
  const value = fields[name]
  return typeof value === 'number' ? value : undefined
}

/** Returns the code of an entry's error, and its message where that is recorded. */
export function errorOf({ error }: Fields): { code: string; message: string } {
  const fields = fieldsOf(error)
  return { code: textOf(fields, 'code'), message: textOf(fields, 'message') }
}

/** Returns the run id of an entry; empty if it belongs to no run. */
export function runOf(fields: Fields): string {
  return textOf(fields, 'run')
}

export function matches(entry: RecordEntry, filter: RecordFilter): boolean {
  const { time, fields } = entry
  const { runs, session, server, denied, since } = filter
  // It only adds to what the line of its run says.
  if (entry.type === 'delivered') return false
  if (runs !== undefined && !runs.some((run) => runOf(fields).startsWith(run))) return false
  if (since !== undefined && Date.parse(time) < since) return false
  if (session !== undefined && !textOf(fields, 'session').startsWith(session)) return false
  if (server !== undefined && fields['server'] !== server) return false
  return !denied || isRefused(entry)
}

/** True if a rule or the user denied a call, or a question was not accepted. */
export function isRefused({ type, fields }: RecordEntry): boolean {
  // An answer is one of MCP's, or one of the policy's own: `yes`, `yes-session`.
  return type === 'denial' || (type === 'answer' && !/^(accept|yes)/.test(textOf(fields, 'answer')))
}
