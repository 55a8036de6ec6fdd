// What a resident bridge does now, computed from its events: for `sandbridge top`, and for a page that opens later.
import type { BridgeEvent, EventOf, EventType } from './event.ts'
import type { Subscriber } from './event-stream.ts'

type PickFrom<T extends EventType, K extends keyof EventOf<T>> = Pick<EventOf<T>, K> & { startedAt: number }
type CellFields = 'id' | 'session' | 'client' | 'number' | 'code' | 'mono' | 'timeoutMs' | 'provider'

/** Has the start of its code. */
interface LiveCell extends PickFrom<'cell.started', CellFields> {
  /** The end of each stream's output so far. */
  output: Record<'stdout' | 'stderr', string>
}

type LiveCall = PickFrom<'call.started', 'id' | 'parent' | 'session' | 'server' | 'name' | 'mono'>
type LiveQuestion = PickFrom<'question.asked', 'id' | 'session' | 'server' | 'message'>

interface LiveServer {
  state: string
  since: number
  calls: number
  failed: number
  /** Duration of all calls together, in milliseconds. */
  durationMs: number
  error?: string | undefined
}

export interface LiveSnapshot {
  sessions: { id: string; client?: string | undefined; startedAt: number; cells: number }[]
  cells: LiveCell[]
  calls: LiveCall[]
  questions: LiveQuestion[]
  servers: Record<string, LiveServer>
  counts: { runs: number; cells: number; calls: number; failed: number; denied: number }
}

const MAX_CODE = 64_000
const MAX_TEXT = 500
/** Characters kept of each output stream. */
const MAX_OUTPUT = 16_000

export class LiveState implements Subscriber {
  readonly name = 'live'
  readonly #sessions = new Map<string, LiveSnapshot['sessions'][number]>()
  readonly #cells = new Map<string, LiveCell>()
  readonly #calls = new Map<string, LiveCall>()
  readonly #questions = new Map<string, LiveQuestion>()
  readonly #servers = new Map<string, LiveServer>()
  readonly #counts = { runs: 0, cells: 0, calls: 0, failed: 0, denied: 0 }

  get snapshot(): LiveSnapshot {
    return {
      sessions: [...this.#sessions.values()],
      cells: [...this.#cells.values()],
      calls: [...this.#calls.values()],
      questions: [...this.#questions.values()],
      servers: Object.fromEntries(this.#servers),
      counts: this.#counts,
    }
  }

  receive(events: readonly BridgeEvent[]): void {
    for (const event of events) {
      const handle = this.#handlers[event.type] as ((event: BridgeEvent) => void) | undefined
      handle?.(event)
    }
  }

  readonly #handlers: { [T in EventType]?: (event: Extract<BridgeEvent, { type: T }>) => void } = {
    'session.started': ({ id, at }) => this.#sessions.set(id, { id, startedAt: at, cells: 0 }),
    'session.ended': ({ id }) => this.#sessions.delete(id),
    'run.started': () => (this.#counts.runs += 1),
    'cell.started': ({ id, session, client, number, code, at, mono, timeoutMs, provider }) => {
      const shown = Buffer.from(code.slice(0, MAX_CODE)).toString()
      const output = { stdout: '', stderr: '' }
      const about = { id, session, client, number, code: shown, mono, timeoutMs, provider }
      this.#cells.set(id, { ...about, startedAt: at, output })
      this.#counts.cells += 1
      const known = session === undefined ? undefined : this.#sessions.get(session)
      if (!known) return
      known.cells += 1
      known.client ??= client
    },
    'cell.output': ({ id, stream, text }) => {
      const cell = this.#cells.get(id)
      if (cell) cell.output[stream] = (cell.output[stream] + text).slice(-MAX_OUTPUT)
    },
    'cell.ended': ({ id }) => this.#cells.delete(id),
    'call.decided': ({ decision }) => {
      if (decision === 'deny') this.#counts.denied += 1
    },
    'call.started': ({ id, parent, session, server, name, at, mono }) => {
      this.#calls.set(id, { id, parent, session, server, name, startedAt: at, mono })
    },
    'call.ended': ({ id, server, outcome, durationMs, at }) => {
      this.#calls.delete(id)
      this.#counts.calls += 1
      const known = this.#server(server, at)
      known.calls += 1
      known.durationMs += durationMs
      if (outcome === 'ok') return
      this.#counts.failed += 1
      known.failed += 1
    },
    'question.asked': ({ id, session, server, message, at }) => {
      this.#questions.set(id, { id, session, server, message: message.slice(0, MAX_TEXT), startedAt: at })
    },
    'question.answered': ({ id }) => this.#questions.delete(id),
    'server.state': ({ server, state, at, error }) => {
      Object.assign(this.#server(server, at), { state, since: at, error: error?.message.slice(0, MAX_TEXT) })
    },
  }

  #server(name: string, at: number): LiveServer {
    const known = this.#servers.get(name) ?? { state: 'running', since: at, calls: 0, failed: 0, durationMs: 0 }
    this.#servers.set(name, known)
    return known
  }
}
