// Reads the record back as runs with their calls, in pages, newest first. Reads only as many files as a page needs,
// within a limit; the page says where the next one starts.
import type { LogInfo, Logs } from '@sandbridge/core/util/stores'
import { recordFiles } from './other-files.ts'
import { entryOf, type RecordEntry } from './record-entry.ts'
import { newestFirst, type RunFilter, type RunRow } from '../run-row.ts'
import { cellOf, RunCollector } from './recorded-run.ts'

/** The last run of a page, or a time before which all older runs began. */
export interface RunCursor {
  at: number
  id: string
}

export interface RunPage {
  /** Newest first. */
  runs: RunRow[]
  /** Missing when there are no older runs. */
  next?: RunCursor
}

/** No further file is read for a page once this many bytes were read. */
const MAX_BYTES = 32 << 20
/** Tolerance: a file system's clock may be behind the clock of the lines. */
const SLACK_MS = 1_000
/** The first recorded run may have begun this long before its file was opened. */
const BEFORE_MS = 10_000
/** Most lines returned for one run. */
const MAX_LINES = 5_000

interface RecordFileInfo extends Pick<LogInfo, 'name' | 'bytes'> {
  /** Earliest time of its entries, and time of its last change. */
  from: number
  to: number
}

/** @param extraText returns more text in which a filter's words can occur, by id of the run */
export async function readRuns(
  logs: Logs,
  filter: RunFilter,
  { before, limit, extraText }: { before?: RunCursor; limit: number; extraText?: (id: string) => string | undefined },
): Promise<RunPage> {
  const files = (await filesOf(logs))
    .filter(({ from, to }) => from <= (before?.at ?? Infinity) && to >= (filter.since ?? 0))
    .toSorted((a, b) => b.to - a.to)
  const collector = new RunCollector(filter, extraText)
  const found = (from: number): RunRow[] =>
    collector.matching().filter((run) => run.at >= from && (before === undefined || isBefore(run, before)))
  let bytes = 0
  /** All runs since this time are known. */
  let from = -Infinity
  for (const { name, to, bytes: size } of files) {
    const isEnough = found(to).length >= limit
    const isTooMuch = bytes + size > MAX_BYTES && bytes > 0 && to < (before?.at ?? Infinity)
    if (isEnough || isTooMuch) {
      from = to
      break
    }
    bytes += size
    await forEachEntry(logs, name, (entry) => collector.take(entry))
  }
  const all = found(from).toSorted(newestFirst)
  const runs = all.slice(0, limit)
  const last = runs.at(-1)
  const next = all.length > limit && last ? { at: last.at, id: last.id } : { at: from, id: '' }
  return { runs, ...(next.at !== -Infinity && { next }) }
}

/** Returns all lines about one run. @param at when the run began */
export async function readRunLines(logs: Logs, id: string, at: number): Promise<RecordEntry[]> {
  const lines: RecordEntry[] = []
  let isOver = false
  // Oldest file first: a run's own line comes last.
  for (const { name, from, to } of await filesOf(logs)) {
    if (isOver || to < at || from > at + SLACK_MS + MAX_RUN_MS) continue
    await forEachEntry(logs, name, (entry) => {
      if (cellOf(entry) !== id || lines.length >= MAX_LINES) return
      lines.push(entry)
      isOver ||= entry.type === 'run'
    })
  }
  return lines
}

/** Longest possible run. */
const MAX_RUN_MS = 24 * 60 * 60_000

/** In the order of the record, newest first, after this place. */
export function isBefore({ at, id }: RunRow, cursor: RunCursor): boolean {
  return at < cursor.at || (at === cursor.at && id.localeCompare(cursor.id) < 0)
}

async function filesOf(logs: Logs): Promise<RecordFileInfo[]> {
  return (await recordFiles(logs)).map(({ name, bytes, changedAt }) => {
    return { name, bytes, from: openedAt(name) - BEFORE_MS, to: changedAt + SLACK_MS }
  })
}

/** The file name holds the time at which the bridge began to write. */
function openedAt(name: string): number {
  return Date.parse(name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6Z'))
}

async function forEachEntry(logs: Logs, name: string, take: (entry: RecordEntry) => void): Promise<void> {
  for await (const line of logs.lines(name)) {
    const entry = entryOf(line)
    if (entry) take(entry)
  }
}
