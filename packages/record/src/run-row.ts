// A run as a row of a list, and how lists are filtered, for page and server. Pure.
import { firstLine } from './first-line.ts'
import { oneLine } from '@sandbridge/core/util/text'
import { wordsOf } from './search-words.ts'
import type { Run } from '@sandbridge/core/observe/runs'

/** A run as shown in a list. */
export interface RunRow extends Pick<
  Run,
  'id' | 'at' | 'session' | 'client' | 'number' | 'callCount' | 'deniedCount' | 'delivered'
> {
  /** `unfinished`: still in progress, or its bridge ended first. */
  kind: 'run' | 'unfinished' | 'sign-in' | 'config'
  status: string
  durationMs?: number
  servers: string[]
  /** The first line of its code, if that is known. */
  title?: string
  error?: string
  /** The bridge has it in memory; missing when it is only in the record. */
  isRemembered?: true
}

export interface RunFilter {
  /** Prefix of a session id. */
  session?: string
  /** Only runs that called this server. */
  server?: string
  /** Only runs with a denied call or a declined question. */
  denied?: boolean
  /** Milliseconds since 1970. */
  since?: number
  status?: string
  /** Words that must all occur in names of tools and servers, errors, rules or arguments. */
  text?: string
}

/** Whether a run matches all of the filter but its words. */
export function fits(run: RunRow, { session, server, denied, since, status }: RunFilter): boolean {
  if (since !== undefined && run.at < since) return false
  if (session !== undefined && !run.session.startsWith(session)) return false
  if (server !== undefined && !run.servers.includes(server)) return false
  if (denied && run.deniedCount === 0) return false
  return status === undefined || run.status === status
}

const ERROR_CHARS = 120

export function rowOf(run: Run): RunRow {
  const { id, at, session, client, number, status, durationMs, callCount, deniedCount, calls, code, error } = run
  return {
    id,
    kind: 'run',
    at,
    session,
    client,
    number,
    status,
    callCount,
    deniedCount,
    ...(durationMs !== undefined && { durationMs }),
    servers: [...new Set(calls.map(({ server }) => server))],
    isRemembered: true,
    title: firstLine(code),
    ...(error && { error: oneLine(error.message ? `${error.code}: ${error.message}` : error.code, ERROR_CHARS) }),
  }
}

export function isWanted(run: Run, filter: RunFilter): boolean {
  if (!fits(rowOf(run), filter)) return false
  const called = run.calls.map((call) => `${call.server} ${call.name}`).join('\n')
  const whole = `${run.code}\n${run.client}\n${run.status}\n${called}`.toLowerCase()
  return wordsOf(filter.text).every((word) => whole.includes(word))
}

export function newestFirst(a: RunRow, b: RunRow): number {
  return b.at - a.at || b.id.localeCompare(a.id)
}
