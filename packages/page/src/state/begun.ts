// What went on in a bridge before its page was opened, as the events of its beginnings.
import type { LiveSnapshot } from '@sandbridge/core/observe/events/live-state.ts'
import type { PageEvent } from './page-event.ts'

/** The sessions, cells, calls and questions that are open. */
export function* eventsOf({ sessions, cells, calls, questions }: LiveSnapshot): Generator<PageEvent> {
  const early = { seq: 0, mono: 0 }
  for (const { id, startedAt, client, cells: cellCount } of sessions)
    yield { type: 'session.started', id, at: startedAt, client, cellCount, ...early }
  for (const { startedAt: at, session = '', client = '', output, ...cell } of cells) {
    yield { type: 'cell.started', at, session, client, isCounted: true, seq: 0, ...cell }
    for (const stream of ['stdout', 'stderr'] as const) {
      const text = output[stream]
      if (text !== '') yield { type: 'cell.output', id: cell.id, at, stream, text, dropped: 0, ...early }
    }
  }
  for (const { startedAt: at, parent = '', ...call } of calls)
    yield { type: 'call.started', at, parent, kind: 'tool', args: '', seq: 0, ...call }
  for (const { id, startedAt: at, server, message } of questions)
    yield { type: 'question.asked', id, at, parent: undefined, server, message, ...early }
}
