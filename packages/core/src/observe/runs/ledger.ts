// The one model of runs and calls, of all events in the bridge, and of shortened ones in its page and browsers.
import type { BridgeEvent, EventOf } from '../events/event.ts'
import { stateAfter, shownOf, shownSize } from './run.ts'
import type { Call, QuestionState, Run, ServerState, SessionState, Told } from './run.ts'

/** What is kept of runs that have ended: their number, and the characters of code, output and calls of all. */
export interface Keeps {
  runs: number
  chars: number
}

const OPEN_ONLY: Keeps = { runs: 0, chars: Infinity }
const MAX_TEXT = 500
/** Limits of one run. */
const MAX_CALLS = 1_000
const MAX_OUTPUT_CHARS = 256 * 1024
const MAX_DISPLAYS = 20
const MAX_PARTS = 2_000
const MAX_SESSIONS = 1_000
const MAX_ANSWERED = 1_000
/** Assumed size of a call beside its texts. */
const CALL_CHARS = 200
/** The client name of cells that the page runs. */
export const PAGE = 'page'

export interface LedgerState {
  counts: Ledger['counts']
  sessions: SessionState[]
  runs: Run[]
  questions: QuestionState[]
  servers: Record<string, ServerState>
}

export class Ledger {
  readonly sessions = new Map<string, SessionState>()
  /** By id of the cell; of the client's request, while it has no cell. */
  readonly runs = new Map<string, Run>()
  readonly questions = new Map<string, QuestionState>()
  readonly servers = new Map<string, ServerState>()
  readonly counts = { runs: 0, cells: 0, calls: 0, failed: 0, denied: 0 }
  readonly #keeps: Keeps
  /** Open ones, by id of the client's request. */
  readonly #requests = new Map<string, Run>()
  /** Those with a result, of which it is not known yet whether the client got it. */
  readonly #answered = new Map<string, Run>()
  /** Open ones. One may outlast its run. */
  readonly #calls = new Map<string, { call: Call; run: Run | undefined }>()
  readonly #chars = new Map<Run, number>()
  #allChars = 0

  constructor(keeps = OPEN_ONLY) {
    this.#keeps = keeps
  }

  /** Without the arguments of calls, and without requests that have no cell. */
  get state(): LedgerState {
    const withCells = [...this.runs.values()].filter(({ number }) => number > 0)
    return {
      counts: this.counts,
      sessions: [...this.sessions.values()],
      runs: withCells.map(({ request: _request, trace: _trace, ...run }) => ({
        ...run,
        calls: run.calls.map(({ isNamed: _isNamed, ...call }) => ({ ...call, args: textOf(call.args) })),
      })),
      questions: [...this.questions.values()],
      servers: Object.fromEntries(this.servers),
    }
  }

  /** Begins with what another ledger has. */
  static from({ sessions, runs, questions }: Omit<LedgerState, 'counts' | 'servers'>, keeps?: Keeps): Ledger {
    const ledger = new Ledger(keeps)
    for (const one of sessions) ledger.sessions.set(one.id, one)
    for (const one of questions) ledger.questions.set(one.id, one)
    for (const run of runs) {
      ledger.runs.set(run.id, run)
      for (const call of run.calls) if (call.outcome === undefined) ledger.#calls.set(call.id, { call, run })
    }
    return ledger
  }

  /** @returns the event with what it is about, as it is after the event */
  take(event: BridgeEvent): Told {
    const about = this.runs.get(('parent' in event && event.parent) || '')
    switch (event.type) {
      case 'session.started':
        this.sessions.set(event.id, newSession(event.id, event.at))
        if (this.sessions.size > MAX_SESSIONS) this.sessions.delete(this.sessions.keys().next().value!)
        return { event }
      case 'session.ended':
        return this.#sessionEnded(event)
      case 'run.started': {
        this.counts.runs += 1
        const run = newRun(event.id, event)
        this.#requests.set(event.id, run)
        return { event, run }
      }
      case 'run.ended':
        return this.#requestEnded(event)
      case 'run.delivered': {
        const run = this.#answered.get(event.id)
        this.#answered.delete(event.id)
        if (run) run.delivered = event.delivered
        return { event, run }
      }
      case 'cell.started':
        return this.#cellStarted(event)
      case 'cell.output':
      case 'cell.display':
        return this.#printed(event, this.runs.get(event.id))
      case 'cell.ended':
        return this.#cellEnded(event, this.runs.get(event.id))
      case 'call.decided':
        return this.#decided(event, about)
      case 'call.started':
        return this.#callStarted(event, about)
      case 'call.progress':
        return this.#progressed(event)
      case 'call.ended':
        return this.#callEnded(event)
      case 'question.asked': {
        const { id, parent: cell, server, message, at } = event
        this.questions.set(id, { id, cell, server, message: message.slice(0, MAX_TEXT), at })
        return { event, run: about }
      }
      case 'question.answered':
        this.questions.delete(event.id)
        return { event, run: about }
      case 'server.state': {
        const error = event.error?.message.slice(0, MAX_TEXT)
        Object.assign(this.#server(event.server, event.at), { state: event.state, since: event.at, error })
        return { event }
      }
      default:
        return { event, run: about }
    }
  }

  get #isOpenOnly(): boolean {
    return this.#keeps.runs === 0
  }

  #sessionEnded(event: EventOf<'session.ended'>): Told {
    const session = this.sessions.get(event.id)
    if (this.#isOpenOnly) this.sessions.delete(event.id)
    else if (session) session.ended = true
    return { event }
  }

  #requestEnded(event: EventOf<'run.ended'>): Told {
    const run = this.#requests.get(event.id)
    this.#requests.delete(event.id)
    if (!run) return { event }
    run.returnedChars = charsIn(event.content)
    run.error ??= event.error
    this.#answered.set(event.id, run)
    if (this.#answered.size > MAX_ANSWERED) this.#answered.delete(this.#answered.keys().next().value!)
    if (run.number === 0) Object.assign(run, { status: event.outcome === 'ok' ? 'ok' : 'error' })
    this.#ended(run)
    return { event, run }
  }

  #cellStarted(event: EventOf<'cell.started'>): Told {
    const { id, parent = '', session: of = '', client = '', user, at, mono, trace } = event
    const { number, code, timeoutMs, provider, servers } = event
    const run = this.#requests.get(parent) ?? newRun(parent === '' ? id : parent, event)
    this.runs.delete(run.id)
    Object.assign(run, { id, session: of, user, at, mono, trace, number, code, timeoutMs, provider, servers })
    run.client ||= client
    run.status = 'running'
    this.runs.set(id, run)
    this.counts.cells += 1
    // A session may have begun before anybody listened.
    const session = this.sessions.get(of) ?? newSession(of, at)
    if (of !== '') this.sessions.set(of, session)
    session.cellCount += 1
    // The user may run a cell in a conversation's session before its client does.
    if (session.client === '' || session.client === PAGE) session.client = client
    this.#grow(run, code.length)
    return { event, run }
  }

  #printed(event: EventOf<'cell.output' | 'cell.display'>, run: Run | undefined): Told {
    if (!run) return { event }
    if (event.type === 'cell.output') this.#grow(run, addOutput(run, event))
    else if (run.parts.filter(({ kind }) => kind === 'display').length < MAX_DISPLAYS) {
      const shown = shownOf(event.data)
      run.parts.push({ kind: 'display', shown })
      this.#grow(run, shownSize(shown))
    }
    return { event, run }
  }

  #cellEnded(event: EventOf<'cell.ended'>, run: Run | undefined): Told {
    if (!run) return { event }
    const { status, durationMs, value, raised, stateLost } = event
    const error = raised && { code: raised.name, message: raised.message }
    Object.assign(run, { status, durationMs, value: value && shownOf(value), error, stateLost })
    this.#grow(run, run.value ? shownSize(run.value) : 0)
    // The client's request ends later, with the result that it gets.
    if (!this.#requests.has(run.run)) this.#ended(run)
    return { event, run }
  }

  #ended(run: Run): void {
    if (this.#isOpenOnly) this.runs.delete(run.id)
    else this.#forgetOldest()
  }

  #decided(event: EventOf<'call.decided'>, run: Run | undefined): Told {
    if (event.decision !== 'deny') return { event, run }
    this.counts.denied += 1
    const { rule, source } = event
    const call = newCall(event, run, { allowed: { decision: 'ask', rule, source } })
    const error = { code: 'PERMISSION_DENIED', message: rule === undefined ? 'It was not allowed.' : `deny ${rule}` }
    Object.assign(call, { state: 'unsent', outcome: 'denied', durationMs: 0, error })
    if (run) {
      run.deniedCount += 1
      this.#add(run, call)
      if (this.#isOpenOnly) drop(run, call)
    }
    return { event, run, call }
  }

  #callStarted(event: EventOf<'call.started'>, run: Run | undefined): Told {
    const call = newCall(event, run, event)
    this.#calls.set(call.id, { call, run })
    if (run) this.#add(run, call)
    return { event, run, call }
  }

  /** Drops the oldest call that has ended, if there are too many; if none has, the oldest one. */
  #add(run: Run, call: Call): void {
    run.callCount += 1
    run.calls.push(call)
    this.#grow(run, CALL_CHARS + (typeof call.args === 'string' ? call.args.length : 0))
    if (run.calls.length <= MAX_CALLS) return
    const ended = run.calls.findIndex(({ outcome }) => outcome !== undefined)
    run.calls.splice(ended === -1 || ended === MAX_CALLS ? 0 : ended, 1)
  }

  #progressed(event: EventOf<'call.progress'>): Told {
    const { call, run } = this.#calls.get(event.id) ?? {}
    const { done, total = 0, message } = event
    if (call) call.progress = total > 0 ? Math.min(1, Math.max(0, done / total)) : -1
    if (call) call.message = message
    return { event, run, call }
  }

  #callEnded(event: EventOf<'call.ended'>): Told {
    const { id, server, outcome, durationMs, at, result, error } = event
    const { call, run } = this.#calls.get(id) ?? {}
    this.#calls.delete(id)
    const isFailed = outcome !== 'ok'
    const known = this.#server(server, at)
    known.durationMs += durationMs
    // A call that is not made counts for no server.
    for (const one of call?.isReused ? [] : [this.counts, known]) {
      one.calls += 1
      if (isFailed) one.failed += 1
    }
    if (call) {
      call.outcome = outcome
      call.durationMs = durationMs
      call.error = error
      call.state = stateAfter(error?.code)
    }
    if (!run) return { event, call }
    if (isFailed) run.failedCount += 1
    if (typeof result === 'string') {
      if (call) call.result = result
      this.#grow(run, result.length)
    } else run.calledChars += charsIn((result as { content?: unknown } | undefined)?.content)
    if (call && this.#isOpenOnly) drop(run, call)
    return { event, run, call }
  }

  #server(name: string, at: number): ServerState {
    const known = this.servers.get(name) ?? { state: 'running', since: at, calls: 0, failed: 0, durationMs: 0 }
    this.servers.set(name, known)
    return known
  }

  #grow(run: Run, by: number): void {
    if (this.#isOpenOnly) return
    this.#chars.set(run, (this.#chars.get(run) ?? 0) + by)
    this.#allChars += by
    this.#forgetOldest()
  }

  /** Old runs lose their output and calls, then all. */
  #forgetOldest(): void {
    const { runs, chars } = this.#keeps
    while (this.runs.size > runs) {
      const [oldest] = this.runs.values()
      this.#shrink(oldest!)
      this.runs.delete(oldest!.id)
    }
    for (const run of this.#allChars > chars ? [...this.#chars.keys()] : []) {
      if (this.#allChars <= chars) return
      if (run.status === 'running') continue
      this.#shrink(run)
      Object.assign(run, { dropped: run.dropped + run.kept, kept: 0, parts: [], calls: [], value: undefined })
    }
  }

  #shrink(run: Run): void {
    this.#allChars -= this.#chars.get(run) ?? 0
    this.#chars.delete(run)
  }
}

function newSession(id: string, at: number): SessionState {
  return { id, client: '', at, cellCount: 0, ended: false }
}

function newRun(run: string, event: EventOf<'run.started' | 'cell.started'>): Run {
  const { id, session = '', client = '', user, at, mono } = event
  return {
    id,
    run,
    session,
    client,
    user,
    number: 0,
    code: '',
    at,
    mono,
    status: 'running',
    timeoutMs: 0,
    provider: '',
    servers: [],
    parts: [],
    kept: 0,
    dropped: 0,
    stateLost: false,
    calls: [],
    callCount: 0,
    deniedCount: 0,
    failedCount: 0,
    calledChars: 0,
    returnedChars: 0,
    ...(event.type === 'run.started' && { request: event, trace: event.trace }),
  }
}

/** For speed, one literal with all keys: cells make thousands of calls. */
function newCall(
  { id, parent: cell = '', kind, server, name, flow, at, mono }: EventOf<'call.started' | 'call.decided'>,
  run: Run | undefined,
  { args = '', isNamed, allowed, isReused }: Partial<Call>,
): Call {
  return {
    id,
    cell,
    kind,
    server,
    name,
    args,
    isNamed,
    allowed,
    flow,
    isReused,
    at,
    startMs: run ? Math.max(0, mono - run.mono) : 0,
    state: 'sent',
  }
}

function drop({ calls }: Run, call: Call): void {
  const at = calls.indexOf(call)
  if (at !== -1) calls.splice(at, 1)
}

/** @returns how many characters are kept of it */
function addOutput(run: Run, { stream: kind, text, dropped = 0 }: EventOf<'cell.output'>): number {
  const last = run.parts.at(-1)
  const room = last?.kind !== kind && run.parts.length >= MAX_PARTS ? 0 : MAX_OUTPUT_CHARS - run.kept
  const fits = text.slice(0, Math.max(0, room))
  run.kept += fits.length
  run.dropped += dropped + text.length - fits.length
  if (last?.kind === kind) last.text += fits
  else if (fits !== '') run.parts.push({ kind, text: fits })
  return fits.length
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Characters of the texts in the content of a result. */
function charsIn(content: unknown): number {
  if (!Array.isArray(content)) return 0
  return content.reduce<number>((sum, block: { text?: unknown } | null) => sum + textOf(block?.text).length, 0)
}
