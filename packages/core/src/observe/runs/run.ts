// A run of code with its calls, as all observers see it: one model, made from events by the ledger.
import type { BridgeEvent, EventOf, EventType } from '../events/event.ts'

/** A request of a cell to a server, from its decision to its end. */
export interface Call {
  readonly id: string
  /** Id of its run. */
  readonly run: string
  readonly startedAt: number
  readonly mono: number
  /** Whole while it is open: the record and spans describe its arguments at its end. */
  readonly started: EventOf<'call.started'>
  ended?: EventOf<'call.ended'>
}

/** Code that ran, or a client's request for it that failed before it had a cell. */
export interface Run {
  /** Id of its cell; of the request while it has none. */
  id: string
  /** The client's request. Missing for a cell that a person typed. */
  readonly request?: EventOf<'run.started'>
  cell?: EventOf<'cell.started'>
  ended?: EventOf<'cell.ended'>
  startedAt: number
  /** The end of each stream's output so far. */
  readonly output: Record<'stdout' | 'stderr', string>
  /** Open ones. Ended ones are told and forgotten, and counted. */
  readonly calls: Map<string, Call>
  callCount: number
  failedCount: number
  deniedCount: number
}

export interface ServerState {
  state: string
  since: number
  calls: number
  failed: number
  durationMs: number
  error?: string | undefined
}

/** An event with what it is about. Observers that load late get it later: the run may have gone on. */
export interface Told<T extends EventType = EventType> {
  event: EventOf<T> & BridgeEvent
  run?: Run | undefined
  call?: Call | undefined
}
