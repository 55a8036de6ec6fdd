// The record for the page: of all bridges of this user, with what this one has in memory, such as the code.
import * as z from 'zod'
import { recordIn } from '@sandbridge/record/audit/other-files.ts'
import { isBefore, type RunCursor, readRunLines, readRuns } from '@sandbridge/record/audit/read-runs.ts'
import { startOf } from '@sandbridge/record/audit/recorded-run.ts'
import { errorOf, numberOf, type RecordEntry, textOf } from '@sandbridge/record/audit/record-entry.ts'
import type { Call, Ledger, Run } from '@sandbridge/core/observe/runs'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { fieldsOf, itemsOf } from '@sandbridge/core/util/json/json.ts'
import { shownFlow } from '../page-event.ts'
import { isWanted, newestFirst, type RunFilter, type RunRow, rowOf } from '@sandbridge/record/run-row.ts'

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
  calls: Call[]
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
  ledger: Ledger,
  asked: AskedFilter,
): Promise<RecordView> {
  const { beforeAt, beforeId = '', ...given } = asked
  const filter: RunFilter = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== ''),
  )
  const before = beforeAt === undefined ? undefined : { at: beforeAt, id: beforeId }
  const limit = before ? MORE_RUNS : FIRST_RUNS
  const remembered = new Map(
    [...ledger.runs.values()].map((cell): [string, Remembered] => [cell.id, { cell, row: rowOf(cell) }]),
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
    ({ row, cell }) => !recorded.has(row.id) && isWanted(cell, filter) && (!before || isBefore(row, before)),
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
  const code = own ? textOf(own.fields, 'code') : ''
  return {
    at: begin,
    durationMs: own && numberOf(own.fields, 'durationMs'),
    calls: calls.slice(-MAX_CALLS).map((line) => callOf(line, begin)),
    callCount: calls.length,
    facts: own ? factsOf(own) : [],
    hasCode: own !== undefined && textOf(own.fields, 'codeHash') !== '',
    ...(code !== '' && { code }),
  }
}

interface Remembered {
  row: RunRow
  cell: Run
}

function withMemory(run: RunRow, remembered: Remembered | undefined): RunRow {
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

const recordedFlow = z.object({ from: z.record(z.string(), z.array(z.string())), seen: z.array(z.string()) })

function callOf(line: RecordEntry, begin: number): Call {
  const { fields, type } = line
  const field = (name: string): string => textOf(fields, name)
  const { code, message } = errorOf(fields)
  const rule = field('rule')
  const denial = rule === '' ? 'It was not allowed.' : `deny ${rule}`
  const flow = recordedFlow.safeParse(fields['flow']).data
  return {
    id: field('id'),
    cell: field('cell'),
    kind: field('kind') as Call['kind'],
    server: field('server'),
    name: field('name'),
    args: field('args'),
    at: startOf(line),
    startMs: Math.max(0, startOf(line) - begin),
    durationMs: numberOf(fields, 'durationMs') ?? 0,
    state: field('state') as Call['state'],
    outcome: type === 'denial' ? 'denied' : (field('outcome') as NonNullable<Call['outcome']>),
    ...(type === 'denial' && { error: { message: denial } }),
    ...(code !== '' && { error: { code, message: [code, message].filter(Boolean).join(': ') } }),
    flow: flow && shownFlow(flow),
    ...(fields['reused'] === true && { isReused: true as const }),
  }
}

/** Fields of a line that the page shows nowhere else. */
const FACTS: [field: string, name: string][] = [
  ['client', 'Client'],
  ['clientVersion', 'Its version'],
  ['user', 'User'],
  ['session', 'Session'],
  ['provider', 'Sandbox'],
  ['server', 'Server'],
  ['codeHash', 'SHA-256 of the code'],
  ['traceId', 'Trace'],
]

function factsOf({ time, type, fields }: RecordEntry): [string, string][] {
  const changes = Object.entries(fieldsOf(fields['config'])).map(([kind, names]): [string, string] => {
    return [`Servers ${kind}`, itemsOf(names).map(String).join(', ')]
  })
  const known = FACTS.map(([field, name]): [string, string] => [name, textOf(fields, field)])
  const error: [string, string] = ['Error', errorOf(fields).code]
  const ended: [string, string] = [type === 'run' ? 'Ended' : 'Written', new Date(time).toISOString()]
  return [ended, ...[...known, error, ...changes].filter(([, value]) => value !== '')]
}
