// The page's state of a bridge, built from events. The bridge maintains it for pages that open later, each page for
// itself. Pure.
import type { CallFlow } from '@sandbridge/core/observe/events/event.ts'
import type { PageEvent, Shown } from './page-event.ts'

/** A piece of a cell's output, in order. */
type Part = { kind: 'stdout' | 'stderr'; text: string } | { kind: 'display'; shown: Shown }

export interface CallView {
  id: string
  kind: string
  server: string
  name: string
  /** JSON, truncated. */
  args: string
  /** Milliseconds since the cell started. */
  startMs: number
  durationMs?: number
  outcome?: string
  result?: string
  error?: string
  /** 0 to 1, or -1 when the total is unknown. */
  progress?: number
  message?: string | undefined
  /** Where its arguments came from, and what its model had read. */
  flow?: CallFlow | undefined
}

export interface CellView {
  id: string
  session: string
  client: string
  number: number
  code: string
  status: string
  /** Start time: milliseconds since 1970, and by the bridge's monotonic clock. */
  at: number
  mono: number
  durationMs?: number
  timeoutMs: number
  provider: string
  parts: Part[]
  /** Characters of output that are kept, and that were dropped. */
  kept: number
  dropped: number
  value?: Shown | undefined
  raised?: { name: string; message: string } | undefined
  stateLost: boolean
  /** The last ones, and those that were open when others were dropped. */
  calls: CallView[]
  /** Of all calls, and of the denied ones. */
  callCount: number
  deniedCount: number
}

export interface SessionView {
  id: string
  client: string
  at: number
  cellCount: number
  ended: boolean
}

export interface QuestionView {
  id: string
  cell: string | undefined
  server: string | undefined
  message: string
  at: number
}

export interface PageState {
  sessions: Map<string, SessionView>
  cells: Map<string, CellView>
  questions: Map<string, QuestionView>
}

/** Limits of one cell. */
const MAX_CALLS = 1_000
const MAX_OUTPUT_CHARS = 256 * 1024
const MAX_DISPLAYS = 20
const MAX_PARTS = 2_000

export function emptyState(): PageState {
  return { sessions: new Map(), cells: new Map(), questions: new Map() }
}

/** Applies an event to the state. Ignores events about unknown cells, which began before the state was created. */
export function applyEvent(state: PageState, event: PageEvent): void {
  switch (event.type) {
    case 'session.started':
      state.sessions.set(event.id, {
        ...newSession(event.id, event.at),
        ...(event.client !== undefined && { client: event.client }),
        ...(event.cellCount !== undefined && { cellCount: event.cellCount }),
      })
      return
    case 'session.ended': {
      const session = state.sessions.get(event.id)
      if (session) session.ended = true
      return
    }
    case 'question.asked':
      state.questions.set(event.id, {
        id: event.id,
        cell: event.parent,
        server: event.server,
        message: event.message,
        at: event.at,
      })
      return
    case 'question.answered':
      state.questions.delete(event.id)
      return
    case 'cell.started':
      return startCell(state, event)
    case 'call.started':
      return startCall(state.cells.get(event.parent), event)
    case 'call.denied':
      return addDenied(state.cells.get(event.parent), event)
    case 'call.progress':
    case 'call.ended':
      return changeCall(state.cells.get(event.parent), event)
    default:
      if ('id' in event && event.type.startsWith('cell.')) changeCell(state.cells.get(event.id), event)
  }
}

function newSession(id: string, at: number): SessionView {
  return { id, client: '', at, cellCount: 0, ended: false }
}

function startCell(state: PageState, event: PageEvent & { type: 'cell.started' }): void {
  const { type: _, seq: _seq, isCounted, ...about } = event
  state.cells.set(event.id, {
    ...about,
    status: 'running',
    parts: [],
    kept: 0,
    dropped: 0,
    stateLost: false,
    calls: [],
    callCount: 0,
    deniedCount: 0,
  })
  // The session may have begun before the state was created.
  const session = state.sessions.get(event.session) ?? newSession(event.session, event.at)
  state.sessions.set(session.id, session)
  if (!isCounted) session.cellCount += 1
  // The user may run a cell in a conversation's session before its client does.
  if (session.client === '' || session.client === PAGE) session.client = event.client
}

/** The client name of cells that the page runs. */
export const PAGE = 'page'

function startCall(cell: CellView | undefined, event: PageEvent & { type: 'call.started' }): void {
  if (!cell) return
  const { id, kind, server, name, args, flow, mono } = event
  addCall(cell, { id, kind, server, name, args, flow, startMs: mono - cell.mono })
}

/** Drops the oldest call that has ended, if there are too many. */
function addCall(cell: CellView, call: CallView): void {
  cell.callCount += 1
  cell.calls.push(call)
  if (cell.calls.length <= MAX_CALLS) return
  const ended = cell.calls.findIndex(({ durationMs }) => durationMs !== undefined)
  // Where none but the new one has, the page shows the last ones of those that are open.
  cell.calls.splice(ended === -1 || ended === MAX_CALLS ? 0 : ended, 1)
}

function addDenied(cell: CellView | undefined, event: PageEvent & { type: 'call.denied' }): void {
  if (!cell) return
  cell.deniedCount += 1
  const { id, kind, server, name, mono, rule, flow } = event
  const about = { id, kind, server, name, args: '', flow, startMs: mono - cell.mono }
  addCall(cell, { ...about, durationMs: 0, outcome: 'denied', error: rule || 'It was not allowed.' })
}

function changeCall(cell: CellView | undefined, event: PageEvent & { type: 'call.progress' | 'call.ended' }): void {
  // Search from the end: most events are about the latest calls.
  const call = cell?.calls.findLast(({ id }) => id === event.id)
  if (!call) return
  if (event.type === 'call.ended') {
    const { durationMs, outcome, result, error } = event
    Object.assign(call, { durationMs, outcome, result, error })
  } else {
    call.progress = event.progress
    call.message = event.message
  }
}

function changeCell(cell: CellView | undefined, event: PageEvent): void {
  if (!cell) return
  if (event.type === 'cell.output') addOutput(cell, event.stream, event.text, event.dropped)
  else if (event.type === 'cell.display') {
    if (cell.parts.filter(({ kind }) => kind === 'display').length < MAX_DISPLAYS)
      cell.parts.push({ kind: 'display', shown: event.shown })
  } else if (event.type === 'cell.ended') {
    const { status, durationMs, value, raised, stateLost } = event
    Object.assign(cell, { status, durationMs, value, raised, stateLost })
  }
}

function addOutput(cell: CellView, kind: 'stdout' | 'stderr', text: string, dropped: number): void {
  const last = cell.parts.at(-1)
  const room = last?.kind !== kind && cell.parts.length >= MAX_PARTS ? 0 : MAX_OUTPUT_CHARS - cell.kept
  const fits = text.slice(0, Math.max(0, room))
  cell.kept += fits.length
  cell.dropped += dropped + text.length - fits.length
  if (fits === '') return
  if (last?.kind === kind) last.text += fits
  else cell.parts.push({ kind, text: fits })
}
