// A call that a client makes itself, without code: by the methods of cells, observed as a cell of one call.
import { BridgeError, messageOf } from '../../errors.ts'
import { ofCell } from '../../observe/events/event.ts'
import { Cancellation } from '../../util/async/cancellation.ts'
import { TimeLimit } from '../../cell/time-limit.ts'
import type { Cell } from './cell.ts'

export interface DirectCall {
  /** One of docs/protocol.md. */
  method: string
  params: Record<string, unknown>
  /** The Python of a cell that makes the same call: observers show it, and flow rules read it. */
  code: string
}

export interface DirectReply<Result> {
  result: Result
  /** For the reader of the reply, a sentence each. */
  notes: string[]
  /** Those in the bridge's own words, which no server has said. */
  ownNotes: string[]
}

/** @throws BridgeError as the call does; UPSTREAM_TIMEOUT at the time limit, CANCELLED when it was interrupted */
export async function callDirectly(cell: Cell, { method, params }: DirectCall): Promise<unknown> {
  const { origin, run, events, timeoutMs, timeLimit = new TimeLimit(timeoutMs), interrupt } = cell
  const about = { ...ofCell(origin), id: origin.cell, parent: run }
  const startedAt = performance.now()
  const cancellation = new Cancellation()
  let isLate = false
  const stop = (): void => cancellation.abort(interrupt.signal.reason)
  interrupt.signal.addEventListener('abort', stop, { once: true })
  if (interrupt.signal.aborted) stop()
  timeLimit.start(() => {
    isLate = true
    cancellation.abort()
  })
  events.emit({
    type: 'cell.started',
    ...about,
    number: 0,
    code: cell.code,
    servers: cell.scope.servers.map(({ name }) => name),
    timeoutMs,
    sandbox: '',
    provider: '',
    trace: origin.trace,
  })
  const ended = { type: 'cell.ended', ...about, value: undefined, stateLost: false } as const
  const since = (): number => performance.now() - startedAt
  try {
    const reply = await cell.onCall({ type: 'call', id: 0, cell: 0, method, params }, cancellation)
    events.emit({ ...ended, status: 'ok', durationMs: since(), raised: undefined })
    return reply
  } catch (thrown) {
    const error = isLate ? late(timeoutMs) : thrown
    const status = isLate ? 'timeout' : cancellation.aborted ? 'interrupted' : 'error'
    const raised = { name: BridgeError.isInstance(error) ? error.code : 'INTERNAL', message: messageOf(error) }
    events.emit({ ...ended, status, durationMs: since(), raised })
    throw error
  } finally {
    timeLimit.stop()
    interrupt.signal.removeEventListener('abort', stop)
  }
}

function late(timeoutMs: number): BridgeError {
  return new BridgeError('UPSTREAM_TIMEOUT', `The call was not answered within ${timeoutMs / 1000} s`, {
    hint: 'It may or may not have taken effect: look before you repeat it.',
  })
}
