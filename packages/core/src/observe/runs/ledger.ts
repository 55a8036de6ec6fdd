// Keeps the one model of runs and their calls that all observers read: pairs the beginning of each with its end.
import type { BridgeEvent, EventOf } from '../events/event.ts'
import type { Call, Run, ServerState, Told } from './run.ts'

const MAX_TEXT = 500
/** Characters kept of each output stream of an open run. */
const MAX_OUTPUT = 16_000

type Question = EventOf<'question.asked'>

export class Ledger {
  /** Open sessions, with the client of their first run. */
  readonly sessions = new Map<string, { id: string; client?: string | undefined; startedAt: number; cells: number }>()
  readonly questions = new Map<string, Question>()
  readonly servers = new Map<string, ServerState>()
  readonly counts = { runs: 0, cells: 0, calls: 0, failed: 0, denied: 0 }
  /** Open runs, by the id of their request and of their cell. */
  readonly #runs = new Map<string, Run>()
  /** Open calls. One may outlast its cell. */
  readonly #calls = new Map<string, Call>()

  /** Those that have a cell. */
  get running(): Run[] {
    return [...new Set(this.#runs.values())].filter(({ cell, ended }) => cell && !ended)
  }

  /** @returns the event with its run and call, as they are after it */
  take(event: BridgeEvent): Told {
    const about = 'parent' in event ? (event.parent ?? '') : ''
    switch (event.type) {
      case 'session.started':
        this.sessions.set(event.id, { id: event.id, startedAt: event.at, cells: 0 })
        return { event }
      case 'session.ended':
        this.sessions.delete(event.id)
        return { event }
      case 'run.started':
        this.counts.runs += 1
        return { event, run: this.#open(newRun(event.id, event.at, event)) }
      case 'run.ended':
        return { event, run: this.#close(event.id) }
      case 'cell.started':
        return { event, run: this.#cellStarted(event) }
      case 'cell.output':
        return { event, run: this.#printed(event) }
      case 'cell.ended': {
        const run = this.#runs.get(event.id)
        if (!run) return { event }
        run.ended = event
        // The client's request ends later, with the result that it gets.
        this.#runs.delete(event.id)
        return { event, run }
      }
      case 'call.decided': {
        const run = this.#runs.get(about)
        if (event.decision !== 'deny') return { event, run }
        this.counts.denied += 1
        if (run) run.deniedCount += 1
        return { event, run }
      }
      case 'call.started': {
        const run = this.#runs.get(about)
        const call: Call = { id: event.id, run: about, startedAt: event.at, mono: event.mono, started: event }
        run?.calls.set(call.id, call)
        this.#calls.set(call.id, call)
        return { event, run, call }
      }
      case 'call.progress':
        return { event, run: this.#runs.get(about), call: this.#calls.get(event.id) }
      case 'call.ended':
        return this.#callEnded(event, this.#runs.get(about))
      case 'question.asked':
        this.questions.set(event.id, event)
        return { event, run: this.#runs.get(about) }
      case 'question.answered':
        this.questions.delete(event.id)
        return { event, run: this.#runs.get(about) }
      case 'server.state':
        Object.assign(this.#server(event.server, event.at), {
          state: event.state,
          since: event.at,
          error: event.error?.message.slice(0, MAX_TEXT),
        })
        return { event }
      default:
        return { event, run: this.#runs.get(about) }
    }
  }

  #open(run: Run): Run {
    this.#runs.set(run.id, run)
    return run
  }

  #close(request: string): Run | undefined {
    const run = this.#runs.get(request)
    this.#runs.delete(request)
    if (run?.cell) this.#runs.delete(run.cell.id)
    return run
  }

  #cellStarted(event: EventOf<'cell.started'>): Run {
    const { id, parent, session, client, at } = event
    const run = this.#runs.get(parent ?? '') ?? newRun(id, at)
    Object.assign(run, { id, cell: event, ended: undefined, startedAt: at })
    this.counts.cells += 1
    const known = session === undefined ? undefined : this.sessions.get(session)
    if (known) {
      known.cells += 1
      known.client ??= client
    }
    this.#runs.set(id, run)
    return run
  }

  #printed({ id, stream, text }: EventOf<'cell.output'>): Run | undefined {
    const run = this.#runs.get(id)
    if (run) run.output[stream] = (run.output[stream] + text).slice(-MAX_OUTPUT)
    return run
  }

  #callEnded(event: EventOf<'call.ended'>, run: Run | undefined): Told {
    const { id, server, outcome, durationMs, at } = event
    const call = this.#calls.get(id)
    run?.calls.delete(id)
    this.#calls.delete(id)
    if (call) call.ended = event
    const known = this.#server(server, at)
    for (const one of [this.counts, known]) one.calls += 1
    known.durationMs += durationMs
    if (run) run.callCount += 1
    if (outcome !== 'ok') {
      for (const one of [this.counts, known]) one.failed += 1
      if (run) run.failedCount += 1
    }
    return { event, run, call }
  }

  #server(name: string, at: number): ServerState {
    const known = this.servers.get(name) ?? { state: 'running', since: at, calls: 0, failed: 0, durationMs: 0 }
    this.servers.set(name, known)
    return known
  }
}

function newRun(id: string, startedAt: number, request?: EventOf<'run.started'>): Run {
  return {
    id,
    ...(request && { request }),
    startedAt,
    output: { stdout: '', stderr: '' },
    calls: new Map(),
    callCount: 0,
    failedCount: 0,
    deniedCount: 0,
  }
}
