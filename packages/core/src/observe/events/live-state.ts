// What a resident bridge does now: a view of the ledger, for `sandbridge top`, and for a page that opens later.
import { Ledger } from '../runs/ledger.ts'
import type { EventOf } from './event.ts'
import type { Subscriber } from './event-stream.ts'

type CellFields = 'id' | 'session' | 'client' | 'number' | 'code' | 'mono' | 'timeoutMs' | 'provider'
/** Has the start of its code. */
type LiveCell = Pick<EventOf<'cell.started'>, CellFields> & {
  startedAt: number
  output: Record<'stdout' | 'stderr', string>
}
type LiveCall = Pick<EventOf<'call.started'>, 'id' | 'parent' | 'session' | 'server' | 'name' | 'mono'> & {
  startedAt: number
}
type LiveQuestion = Pick<EventOf<'question.asked'>, 'id' | 'session' | 'server' | 'message'> & { startedAt: number }

export interface LiveSnapshot extends Pick<Ledger, 'counts'> {
  sessions: { id: string; client?: string | undefined; startedAt: number; cells: number }[]
  cells: LiveCell[]
  calls: LiveCall[]
  questions: LiveQuestion[]
  servers: Record<string, ReturnType<Ledger['servers']['get']> & object>
}

const MAX_CODE = 64_000
const MAX_TEXT = 500

function liveOf(ledger: Ledger): LiveSnapshot {
  const { sessions, running, questions, servers, counts } = ledger
  return {
    counts,
    sessions: [...sessions.values()],
    cells: running.map(({ cell, output, startedAt }) => {
      const { id, session, client, number, code, mono, timeoutMs, provider } = cell!
      const shown = code.slice(0, MAX_CODE)
      return { id, session, client, number, code: shown, mono, timeoutMs, provider, startedAt, output }
    }),
    calls: running.flatMap(({ calls }) =>
      [...calls.values()].map(({ id, run, startedAt, mono, started: { session, server, name } }) => {
        return { id, parent: run, session, server, name, startedAt, mono }
      }),
    ),
    questions: Array.from(questions.values(), ({ id, session, server, message, at }) => {
      return { id, session, server, message: message.slice(0, MAX_TEXT), startedAt: at }
    }),
    servers: Object.fromEntries(servers),
  }
}

export class LiveState implements Subscriber {
  readonly name = 'live'
  readonly ledger = new Ledger()

  get snapshot(): LiveSnapshot {
    return liveOf(this.ledger)
  }

  receive(events: Parameters<Subscriber['receive']>[0]): void {
    for (const event of events) this.ledger.take(event)
  }
}
