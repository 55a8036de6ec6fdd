// Reports a call to a server as events and adds the trace to it. No other code reports calls.
import { type EventError, type EventOf, type Events, ofCell, type Origin } from '../observe/events/event.ts'
import type { EventStream } from '../observe/events/event-stream.ts'
import { newId, shortId } from '../observe/events/new-id.ts'
import { type TraceMeta, traceMeta } from '../observe/events/trace-context.ts'
import { BridgeError, messageOf } from '../errors.ts'
import type { UserQuota } from './permissions/user-quota.ts'

type CallToObserve = Events['call.started'] & {
  /** Its event id, when it already has one. */
  id?: string | undefined
}

interface Observers {
  events: EventStream
  origin: Origin
  /** Limits of the user whose cell makes the call; missing for a user without limits. */
  quota?: UserQuota | undefined
}

/** What the call sends along and reports. */
interface Observed {
  /** Fields for its `params._meta`. */
  meta?: TraceMeta
  onProgress?: (progress: { done: number; total?: number; message?: string }) => void
}

/**
 * Makes a call, and emits its events when anything subscribes.
 * @throws what `work` throws, QUOTA_EXCEEDED, or the BridgeError of an observer that must see every call and cannot
 */
export function observed<T>({ events, origin, quota }: Observers, call: CallToObserve, work: Work<T>): Promise<T> {
  if (!call.isReused) quota?.takeCall()
  if (!events.active) return work(withMeta(traceMeta(origin.trace, '')))
  return new ToldCall(events, origin, call).make(work)
}

const withMeta = (meta: TraceMeta | undefined): Observed => (meta ? { meta } : {})

type Work<T> = (observed: Observed) => Promise<T>

/** A cell may make thousands of calls: for speed, events are literals, and one object holds what they share. */
class ToldCall {
  readonly #events: EventStream
  readonly #origin: Origin
  readonly #started: EventOf<'call.started'>

  constructor(events: EventStream, origin: Origin, call: CallToObserve) {
    this.#events = events
    this.#origin = origin
    this.#started = {
      type: 'call.started',
      id: call.id ?? newId(),
      ...ofCell(origin),
      kind: call.kind,
      server: call.server,
      name: call.name,
      args: call.args,
      isNamed: call.isNamed,
      allowed: call.allowed,
      flow: call.flow,
      isReused: call.isReused,
      seq: 0,
      at: 0,
      mono: 0,
    }
    events.emit(this.#started)
  }

  async make<T>(work: Work<T>): Promise<T> {
    try {
      if (this.#events.isGuarded) await this.#events.allow(this.#started)
      const result = await work(this.#observed())
      const isFailure = (result as { isError?: unknown } | undefined)?.isError === true
      this.#end(isFailure ? 'tool_error' : 'ok', result)
      return result
    } catch (error) {
      const { id, server, name } = this.#started
      this.#origin.log.failure('A call failed', error, { call: shortId(id), server, name })
      const code = BridgeError.isInstance(error) ? error.code : 'INTERNAL'
      this.#end(code === 'CANCELLED' ? 'cancelled' : 'failed', undefined, { code, message: messageOf(error) })
      throw error
    }
  }

  #observed(): Observed {
    const { id } = this.#started
    const about = ofCell(this.#origin)
    return {
      ...withMeta(traceMeta(this.#origin.trace, id)),
      onProgress: (progress) => this.#events.emit({ type: 'call.progress', id, ...about, ...progress }),
    }
  }

  #end(outcome: Events['call.ended']['outcome'], result: unknown, error?: EventError): void {
    const { id, kind, server, name, mono, isReused } = this.#started
    const durationMs = performance.now() - mono
    const ended: EventOf<'call.ended'> = {
      type: 'call.ended',
      id,
      ...ofCell(this.#origin),
      kind,
      server,
      name,
      outcome,
      durationMs,
      result,
      error,
      isReused,
      seq: 0,
      at: 0,
      mono: 0,
    }
    this.#events.emit(ended)
    this.#origin.log.debug('A call has ended', { call: shortId(id), server, name, outcome, ms: Math.round(durationMs) })
  }
}
