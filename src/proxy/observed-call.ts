// What a call to a server looks like from outside: its events, and the trace that it takes along. The only place that tells of calls.
import type { Allowed, CallEnded, CallKind, EventOf, Origin } from '../events/event.ts'
import type { EventStream } from '../events/event-stream.ts'
import { newId, shortId } from '../events/new-id.ts'
import { type TraceMeta, traceMeta } from '../events/trace-context.ts'
import { BridgeError, messageOf } from '../errors.ts'
import type { UserQuota } from './user/user-quota.ts'

interface CallToObserve {
  kind: CallKind
  server: string
  name: string
  args: Readonly<Record<string, unknown>>
  /** Its id, where it has one already. */
  id?: string
  /** What allowed it. */
  allowed?: Allowed
}

interface Observers {
  events: EventStream
  origin: Origin
  /** Of the user whose cell makes the call; missing when it has none. */
  quota?: UserQuota | undefined
}

/** What the call takes along and tells. */
interface Observed {
  /** The fields for its `params._meta`. */
  meta?: TraceMeta
  onProgress?: (progress: { done: number; total?: number; message?: string }) => void
}

/**
 * Make a call, and tell of it when anybody listens.
 * @throws what `work` throws, QUOTA_EXCEEDED, or the BridgeError of an observer that must see every call and cannot
 */
export function observed<T>({ events, origin, quota }: Observers, call: CallToObserve, work: Work<T>): Promise<T> {
  quota?.takeCall()
  if (!events.active) return work(withMeta(traceMeta(origin.trace, '')))
  return tell(events, origin, call, work)
}

const withMeta = (meta: TraceMeta | undefined): Observed => (meta ? { meta } : {})

type Work<T> = (observed: Observed) => Promise<T>

async function tell<T>(events: EventStream, origin: Origin, call: CallToObserve, work: Work<T>): Promise<T> {
  const { kind, server, name, args, id = newId(), allowed } = call
  const { cell: parent, session, client, user, log } = origin
  const { run } = log
  // Every field is written out, its stamp as well: a cell may make thousands of calls, and an object that others are spread into takes longer to make.
  const started: EventOf<'call.started'> = {
    type: 'call.started',
    id,
    parent,
    run,
    session,
    client,
    user,
    kind,
    server,
    name,
    args,
    allowed,
    seq: 0,
    at: 0,
    mono: 0,
  }
  const end = (outcome: CallEnded['outcome'], result: unknown, error: CallEnded['error']): void => {
    const durationMs = performance.now() - started.mono
    const ended: EventOf<'call.ended'> = {
      type: 'call.ended',
      id,
      parent,
      run,
      session,
      client,
      user,
      kind,
      server,
      name,
      outcome,
      durationMs,
      result,
      error,
      seq: 0,
      at: 0,
      mono: 0,
    }
    events.emit(ended)
    log.debug('A call has ended', { call: shortId(id), server, name, outcome, ms: Math.round(durationMs) })
  }
  events.emit(started)
  try {
    await events.allow(started)
    const result = await work({
      ...withMeta(traceMeta(origin.trace, id)),
      onProgress: (progress) =>
        events.emit({ type: 'call.progress', id, parent, run, session, client, user, ...progress }),
    })
    const isFailure = (result as { isError?: unknown } | undefined)?.isError === true
    end(isFailure ? 'tool_error' : 'ok', result, undefined)
    return result
  } catch (error) {
    const code = BridgeError.isInstance(error) ? error.code : 'INTERNAL'
    log.failure('A call failed', error, { call: shortId(id), server, name })
    end(code === 'CANCELLED' ? 'cancelled' : 'failed', undefined, { code, message: messageOf(error) })
    throw error
  }
}
