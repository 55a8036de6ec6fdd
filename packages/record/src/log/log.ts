// `sandbridge log`: what models did, from the record that every bridge of this user writes.
import { setTimeout as sleep } from 'node:timers/promises'
import { recordIn, recordFiles } from '../audit/other-files.ts'
import { readRecord, runsNamed } from '../audit/read-record.ts'
import {
  type RecordEntry,
  type RecordFilter,
  textOf,
  entryOf,
  errorOf,
  matches,
  numberOf,
} from '../audit/record-entry.ts'
import { verifyRecord } from '../audit/verify-record.ts'
import { loadSettings } from '@sandbridge/core/config/settings'
import { count, withVisibleBlanks } from '@sandbridge/core/util/text'
import { fieldsOf } from '@sandbridge/core/util/json/json.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { shortId } from '@sandbridge/core/observe/events'
import type { Logs } from '@sandbridge/core/util/stores'
import type { Cell, Style, Terminal } from '@sandbridge/core/serve/cli/terminal'
import { ownStore } from '@sandbridge/shared/own-store.ts'

interface LogOptions {
  follow?: boolean
  session?: string
  server?: string
  denied?: boolean
  since?: string
  lines: string
  verify?: boolean
  flow?: boolean
  json?: boolean
}

const POLL_MS = 250

/** @param id prefix of the id of a run, a cell or a call; shows its run */
export async function log(id: string | undefined, options: LogOptions, terminal: Terminal): Promise<void> {
  const { print, printEmpty, printLine } = terminal
  const settings = await loadSettings(terminal.context.env)
  const logs = recordIn(await ownStore(settings))
  if (options.verify) return verify(logs, options.json ?? false, terminal)
  const filter = { ...filterOf(options), ...(id !== undefined && { runs: await runsNamed(logs, id) }) }
  const show = (entry: RecordEntry) => {
    if (options.json) return print(entry.line)
    printLine(cellsOf(entry))
    if (options.flow) for (const line of flowLines(entry)) printLine(line)
  }
  const follower = options.follow ? await followRecord(logs) : undefined
  const entries = await readRecord(logs, filter, limitOf(options.lines))
  if (entries.length === 0 && !follower) {
    return printEmpty(
      settings.audit === 'off'
        ? 'Nothing is recorded: MCP_BRIDGE_AUDIT is off.'
        : 'Nothing matches, or nothing has been recorded yet.',
    )
  }
  for (const entry of entries) show(entry)
  if (!follower) return
  const over = new AbortController()
  terminal.onEnd(async () => over.abort())
  while (!over.signal.aborted) {
    for (const entry of await follower.next(filter)) show(entry)
    await sleep(POLL_MS)
  }
}

function filterOf({ session, server, denied, since }: LogOptions): RecordFilter {
  return {
    ...(session !== undefined && { session }),
    ...(server !== undefined && { server }),
    ...(denied && { denied }),
    ...(since !== undefined && { since: timeOf(since, Date.now()) }),
  }
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `90m`, `2h`, `3d`, or a date. @throws BridgeError TOOL_ARGUMENTS_INVALID */
function timeOf(text: string, now: number): number {
  const [, number, unit] = /^(\d+)([smhd])$/.exec(text) ?? []
  if (number !== undefined) return now - Number(number) * UNITS[unit as keyof typeof UNITS]
  // Date.parse takes almost anything: `5` would be the year 2001.
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `--since: '${text}' is not a time`, {
    hint: 'Write 90m, 2h, 3d, or a date such as 2026-11-22.',
  })
}

function limitOf(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `--lines: '${text}' is not a whole number above 0`)
}

const STYLES: Record<string, Style> = {
  ok: 'green',
  error: 'red',
  tool_error: 'red',
  failed: 'red',
  denial: 'yellow',
  timeout: 'yellow',
}

function cellsOf({ time, type, fields }: RecordEntry): Cell[] {
  const text = (name: string) => textOf(fields, name)
  const durationMs = numberOf(fields, 'durationMs')
  const status = fields['reused'] === true ? 'reused' : text('outcome') || text('status') || text('answer')
  const { code } = errorOf(fields)
  const target = [text('server'), text('name')].filter(Boolean).join('__')
  const kind = type.padEnd(8)
  return [
    { text: new Date(time).toLocaleString('sv'), style: 'dim' },
    { text: shortId(text('run')).padEnd(8), style: 'dim' },
    type === 'denial' ? { text: kind, style: 'yellow' } : kind,
    // A server's or a client's word must not read as the columns after it.
    { text: withVisibleBlanks(target || text('client')), style: 'bold' },
    { text: status, style: STYLES[status] ?? 'dim' },
    { text: code === status ? '' : withVisibleBlanks(code), style: 'red' },
    durationMs === undefined ? '' : `${durationMs / 1000} s`,
    text('rule') && `rule ${text('rule')}`,
    { text: text('args'), style: 'dim' },
  ]
}

/** Where each argument of a call came from, and what the model had read by then. */
function flowLines({ fields }: RecordEntry): Cell[][] {
  const { from, seen } = fieldsOf(fields['flow'])
  const names = (list: unknown): string => (Array.isArray(list) ? list.map(String).join(', ') : '')
  return [
    ...Object.entries(fieldsOf(from)).map(([argument, origins]): Cell[] => [
      { text: `  ${withVisibleBlanks(argument)}`, style: 'bold' },
      `from ${withVisibleBlanks(names(origins))}`,
    ]),
    ...(names(seen) === ''
      ? []
      : [[{ text: `  the model has read ${withVisibleBlanks(names(seen))}`, style: 'yellow' } as const]]),
  ]
}

/** Sets the exit code to 1 when the record was changed. */
async function verify(logs: Logs, asJson: boolean, terminal: Terminal): Promise<void> {
  const { print, printJson, printLine } = terminal
  const verdict = await verifyRecord(logs)
  if (verdict.problems.length > 0) terminal.exitCode = 1
  if (asJson) return printJson(verdict)
  for (const [findings, style] of [
    [verdict.problems, 'red'],
    [verdict.remarks, 'yellow'],
  ] as const) {
    for (const { file, line, message } of findings) {
      const place = line === undefined ? file : `${file}, line ${line}`
      printLine([{ text: place, style }, message], ' ')
    }
  }
  const checked = `${count(verdict.lines, 'line')} in ${count(verdict.files, 'file')}`
  const changed = verdict.problems.length > 0
  print(changed ? `The audit log was changed. Checked: ${checked}.` : `No change was found. Checked: ${checked}.`)
}

/** Starts at the current end of the record. */
async function followRecord(logs: Logs): Promise<{ next(filter: RecordFilter): Promise<RecordEntry[]> }> {
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
