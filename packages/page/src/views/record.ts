// The record for the page: what all bridges of this user have recorded, plus what this one has in memory, such as the
// code.
import * as z from 'zod'
import { recordIn } from '@sandbridge/record/audit/other-files.ts'
import { type RunCursor, readRunLines, readRuns } from '@sandbridge/record/audit/read-runs.ts'
import { durationOf, type RecordedRun, type RunFilter, startOf } from '@sandbridge/record/audit/recorded-run.ts'
import { type RecordEntry, textOf } from '@sandbridge/record/audit/record-entry.ts'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { shownFlow } from '../state/page-event.ts'
import type { CallView, CellView } from '../state/page-state.ts'
import { isWanted, newestFirst, type RunRow, rowOf } from '../state/run-row.ts'
import type { History } from '../state/history.ts'

export interface RecordView {
  runs: RunRow[]
  next?: RunCursor
  /** Nothing is recorded: the page shows what the bridge has in memory. */
  isOff: boolean
}

/** A run according to its lines in the record. */
export interface RecordedCell {
  at: number
  durationMs: number | undefined
  calls: CallView[]
  callCount: number
  facts: [name: string, value: string][]
  /** It ran code, of which the record has the hash. */
  hasCode: boolean
  /** The code, if the record contains it. */
  code?: string
}

/** The first page is small, so that it loads at once. */
const FIRST_RUNS = 200
const MORE_RUNS = 2_000
const MAX_CALLS = 1_000

const flag = z.enum(['true', 'false']).transform((text) => text === 'true')
const text = z.string().max(1_000)

export const runFilter = z.object({
  session: text.optional(),
  server: text.optional(),
  denied: flag.optional(),
  since: z.coerce.number().optional(),
  status: text.optional(),
  text: text.optional(),
  beforeAt: z.coerce.number().optional(),
  beforeId: text.optional(),
})

type AskedFilter = z.infer<typeof runFilter>

export async function recordRuns(
  { settings, stores }: Pick<Bridge, 'settings' | 'stores'>,
  history: History,
  asked: AskedFilter,
): Promise<RecordView> {
  const { beforeAt, beforeId = '', ...given } = asked
  const filter: RunFilter = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== ''),
  )
  const before = beforeAt === undefined ? undefined : { at: beforeAt, id: beforeId }
  const limit = before ? MORE_RUNS : FIRST_RUNS
  const remembered = new Map(
    [...history.state.cells.values()].map((cell): [string, Remembered] => [cell.id, { cell, row: rowOf(cell) }]),
  )
  const extraText = (id: string): string | undefined => {
    const row = remembered.get(id)
    return row && `${row.cell.code}\n${row.cell.client}\n${row.cell.status}`
  }
  const page = await readRuns(recordIn(stores.of(undefined)), filter, {
    limit,
    extraText,
    ...(before && { before }),
  })
  const recorded = new Map(page.runs.map((run): [string, RunRow] => [run.id, withMemory(run, remembered.get(run.id))]))
  const others = [...remembered.values()].filter(
    ({ row, cell }) => !recorded.has(row.id) && isWanted(cell, filter) && isOlder(row, before),
  )
  // This page ends where the record's page ends, or at its limit.
  const from = page.next?.at ?? -Infinity
  const all = [...recorded.values(), ...others.map(({ row }) => row).filter(({ at }) => at >= from)].toSorted(
    newestFirst,
  )
  const runs = all.slice(0, limit)
  const last = runs.at(-1)
  const next = all.length > runs.length && last ? { at: last.at, id: last.id } : page.next
  return { runs, ...(next && { next }), isOff: settings.audit === 'off' && recorded.size === 0 }
}

/** @param id of its cell or its line @param at start time */
export async function recordedRun({ stores }: Pick<Bridge, 'stores'>, id: string, at: number): Promise<RecordedCell> {
  const lines = await readRunLines(recordIn(stores.of(undefined)), id, at)
  const own = lines.find((line) => ['run', 'sign-in', 'config'].includes(line.type)) ?? lines.at(-1)
  const begin = own?.type === 'run' ? startOf(own) : at
  const calls = lines.filter(({ type }) => type === 'call' || type === 'denial')
  const code = own ? textOf(own.fields, 'sandbridge.code') : ''
  return {
    at: begin,
    durationMs: own && durationOf(own),
    calls: calls.slice(-MAX_CALLS).map((line) => callOf(line, begin)),
    callCount: calls.length,
    facts: own ? factsOf(own) : [],
    hasCode: own !== undefined && textOf(own.fields, 'sandbridge.code.sha256') !== '',
    ...(code !== '' && { code }),
  }
}

interface Remembered {
  row: RunRow
  cell: CellView
}

function withMemory(run: RecordedRun, remembered: Remembered | undefined): RunRow {
  if (!remembered) return run
  const { title, error, at, status } = remembered.row
  // Calls of a running cell are in the record before the cell.
  return {
    ...run,
    isRemembered: true,
    title: title!,
    ...(error !== undefined && { error }),
    ...(run.kind === 'unfinished' && { at, status, kind: 'run' }),
  }
}

function isOlder({ at, id }: RunRow, before: RunCursor | undefined): boolean {
  return before === undefined || at < before.at || (at === before.at && id.localeCompare(before.id) < 0)
}

const serverNames = z.array(z.string())
const recordedFlow = z
  .object({ 'sandbridge.flow.from': z.record(z.string(), serverNames), 'sandbridge.flow.seen': serverNames })
  .transform((fields) => ({ from: fields['sandbridge.flow.from'], seen: fields['sandbridge.flow.seen'] }))

function callOf(line: RecordEntry, begin: number): CallView {
  const { fields, type } = line
  const field = (name: string): string => textOf(fields, name)
  const given = fields['gen_ai.tool.call.arguments']
  const args = given === undefined ? field('sandbridge.arguments.shape') : JSON.stringify(given)
  const rule = field('sandbridge.rule')
  const error = [field('error.type'), field('sandbridge.error.message')].filter(Boolean).join(': ')
  return {
    id: field('id'),
    kind: field('mcp.method.name'),
    server: field('mcp.server.name'),
    name: field('gen_ai.tool.name') || field('mcp.resource.uri') || field('gen_ai.prompt.name'),
    args,
    startMs: Math.max(0, startOf(line) - begin),
    durationMs: durationOf(line) ?? 0,
    outcome: type === 'denial' ? 'denied' : field('sandbridge.outcome'),
    ...(type === 'denial' && { error: rule === '' ? 'It was not allowed.' : `deny ${rule}` }),
    ...(type !== 'denial' && error !== '' && { error }),
    flow: shownFlow(recordedFlow.safeParse(fields).data),
  }
}

/** Fields of a line that the page shows nowhere else. */
const FACTS: [field: string, name: string][] = [
  ['mcp.client.name', 'Client'],
  ['mcp.client.version', 'Its version'],
  ['user.name', 'User'],
  ['sandbridge.session.id', 'Session'],
  ['sandbridge.provider', 'Sandbox'],
  ['error.type', 'Error'],
  ['mcp.server.name', 'Server'],
  ['sandbridge.code.sha256', 'SHA-256 of the code'],
  ['trace_id', 'Trace'],
]

function factsOf({ time, type, fields }: RecordEntry): [string, string][] {
  const config = fields['sandbridge.config'] as { added?: string[]; removed?: string[]; changed?: string[] } | undefined
  const changes = (['added', 'removed', 'changed'] as const).flatMap((kind): [string, string][] => {
    const names = config?.[kind] ?? []
    return names.length > 0 ? [[`Servers ${kind}`, names.join(', ')]] : []
  })
  const known = FACTS.map(([field, name]): [string, string] => [name, textOf(fields, field)])
  return [
    [type === 'run' ? 'Ended' : 'Written', new Date(time).toISOString()],
    ...known.filter(([, value]) => value !== ''),
    ...changes,
  ]
}
