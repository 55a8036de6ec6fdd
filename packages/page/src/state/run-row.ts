// Makes a row of the record from a cell in the bridge's memory, and filters such rows. The page and its server share
// this. Pure.
import type { RecordedRun, RunFilter } from '@sandbridge/record/audit/recorded-run.ts'
import { firstLine } from '@sandbridge/core/util/text/first-line.ts'
import { oneLine } from '@sandbridge/core/util/text/one-line.ts'
import { wordsOf } from '@sandbridge/core/util/text/search-words.ts'
import type { CellView } from './page-state.ts'

export interface RunRow extends RecordedRun {
  /** The bridge has it in memory; missing when it is only in the record. */
  isRemembered?: true
}

const ERROR_CHARS = 120

export function rowOf(cell: CellView): RunRow {
  const { id, at, session, client, number, status, durationMs, callCount, deniedCount, calls, code, raised } = cell
  return {
    id,
    kind: 'run',
    at,
    session,
    client,
    number,
    status,
    ...(durationMs !== undefined && { durationMs }),
    callCount,
    deniedCount,
    servers: [...new Set(calls.map(({ server }) => server))],
    isRemembered: true,
    title: firstLine(code),
    ...(raised && { error: oneLine(raised.message ? `${raised.name}: ${raised.message}` : raised.name, ERROR_CHARS) }),
  }
}

export function isWanted(cell: CellView, { text, server, session, status, denied, since }: RunFilter): boolean {
  if (session !== undefined && !cell.session.startsWith(session)) return false
  if (status !== undefined && cell.status !== status) return false
  if (server !== undefined && !cell.calls.some((call) => call.server === server)) return false
  if (denied && cell.deniedCount === 0) return false
  if (since !== undefined && cell.at < since) return false
  const called = cell.calls.map((call) => `${call.server} ${call.name}`).join('\n')
  const whole = `${cell.code}\n${cell.client}\n${cell.status}\n${called}`.toLowerCase()
  return wordsOf(text).every((word) => whole.includes(word))
}

export function newestFirst(a: RunRow, b: RunRow): number {
  return b.at - a.at || b.id.localeCompare(a.id)
}
