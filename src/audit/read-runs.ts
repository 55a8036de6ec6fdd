// Reads the record back as runs, each with what it called: a page of them, newest first. Of the files, as many are read as a page needs and no more than
// a bound; the answer says from where to go on.
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { recordFiles } from './other-files.ts'
import { entryOf, type RecordEntry } from './record-entry.ts'
import { linesOf } from './record-lines.ts'
import { cellOf, RunCollector, type RecordedRun, type RunFilter } from './recorded-run.ts'

/** The last run of a page, or a time that all older ones are before. */
export interface RunCursor {
  at: number
  id: string
}

export interface RunPage {
  /** Newest first. */
  runs: RecordedRun[]
  /** Missing when there are no older ones. */
  next?: RunCursor
}

/** A file is not read when this much was read for the page. */
const MAX_BYTES = 32 << 20
/** The clock of a file system may be behind that of the lines. */
const SLACK_MS = 1_000
/** What a bridge records first may have begun before its record. */
const BEFORE_MS = 10_000
/** Lines about one run that are shown. */
const MAX_LINES = 5_000

interface RecordFileInfo {
  file: string
  bytes: number
  /** When it was opened at the earliest, and changed last. */
  from: number
  to: number
}

/** @param extraText what the words of a filter may be found in besides, by the id of the run */
export async function readRuns(
  folder: string,
  filter: RunFilter,
  { before, limit, extraText }: { before?: RunCursor; limit: number; extraText?: (id: string) => string | undefined },
): Promise<RunPage> {
  const files = (await filesOf(folder))
    .filter(({ from, to }) => from <= (before?.at ?? Infinity) && to >= (filter.since ?? 0))
    .toSorted((a, b) => b.to - a.to)
  const collector = new RunCollector(filter, extraText)
  const found = (from: number): RecordedRun[] =>
    collector.matching().filter((run) => run.at >= from && (before === undefined || isBefore(run, before)))
  let bytes = 0
  /** All runs from here on are known. */
  let from = -Infinity
  for (const { file, to, bytes: size } of files) {
    const isEnough = found(to).length >= limit
    const isTooMuch = bytes + size > MAX_BYTES && bytes > 0 && to < (before?.at ?? Infinity)
    if (isEnough || isTooMuch) {
      from = to
      break
    }
    bytes += size
    await forEachEntry(file, (entry) => collector.take(entry))
  }
  const all = found(from).toSorted((a, b) => b.at - a.at || b.id.localeCompare(a.id))
  const runs = all.slice(0, limit)
  const last = runs.at(-1)
  const next = all.length > limit && last ? { at: last.at, id: last.id } : { at: from, id: '' }
  return { runs, ...(next.at !== -Infinity && { next }) }
}

/** All lines about one run. @param at when it began */
export async function readRunLines(folder: string, id: string, at: number): Promise<RecordEntry[]> {
  const lines: RecordEntry[] = []
  let isOver = false
  // Oldest first: its own line is the last about it.
  for (const { file, from, to } of await filesOf(folder)) {
    if (isOver || to < at || from > at + SLACK_MS + MAX_RUN_MS) continue
    await forEachEntry(file, (entry) => {
      if (cellOf(entry) !== id || lines.length >= MAX_LINES) return
      lines.push(entry)
      isOver ||= entry.type === 'run'
    })
  }
  return lines
}

/** No cell runs longer than this. */
const MAX_RUN_MS = 24 * 60 * 60_000

function isBefore({ at, id }: RecordedRun, cursor: RunCursor): boolean {
  return at < cursor.at || (at === cursor.at && id.localeCompare(cursor.id) < 0)
}

async function filesOf(folder: string): Promise<RecordFileInfo[]> {
  const names = await recordFiles(folder)
  return Promise.all(
    names.map(async (name) => {
      const file = path.join(folder, name)
      const { size, mtimeMs } = await stat(file).catch(() => ({ size: 0, mtimeMs: 0 }))
      return { file, bytes: size, from: openedAt(name) - BEFORE_MS, to: mtimeMs + SLACK_MS }
    }),
  )
}

/** The names say when the bridge began to write. */
function openedAt(name: string): number {
  return Date.parse(name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6Z'))
}

async function forEachEntry(file: string, take: (entry: RecordEntry) => void): Promise<void> {
  for await (const line of linesOf(file)) {
    const entry = entryOf(line)
    if (entry) take(entry)
  }
}
