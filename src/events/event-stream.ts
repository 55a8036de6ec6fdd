// The one stream of events of a bridge. Whatever wants to know what happens subscribes to it; nothing in the bridge knows its subscribers.
// Events are delivered in batches, after the work that emitted them has gone on: a subscriber never stands between a call and its server.
import { messageOf } from '../errors.ts'
import type { BridgeEvent, CallStarted, EventBody, Stamp } from './event.ts'
import type { TraceContext } from './trace-context.ts'

export interface Subscriber {
  /** For logs. */
  name: string
  /** Gets the events since the last time, in order. It must return soon, and keep what takes long for later. */
  receive(events: readonly BridgeEvent[]): void
  /** A person looks at what it shows: it gets events sooner. */
  readonly isWatched?: boolean
  /** Asked before a call is made, when it has received the event of it; the call waits. @throws BridgeError when it must not be made */
  before?(call: CallStarted & Stamp): Promise<void>
  /** The bridge ends: keep what is not kept yet. */
  close?(): Promise<void>
}

/** One that throws this often in a row is broken, and gets no more events. */
const MAX_FAILURES = 10

/**
 * Delivered one by one, events cost a call several times what they do together; delivered soon, a cell that makes calls at once waits for it.
 * A person who watches does not notice the shorter delay.
 */
const DELIVER_AFTER_MS = 100
const DELIVER_TO_WATCHED_MS = 25
/** So many events do not wait for that. */
const MAX_WAITING = 5_000

export class EventStream {
  /** Whether there are subscribers. Without one, no event should be constructed. */
  active = false
  /** Whether spans are sent: decides in which trace a run is, by the one that its client names. */
  startTrace: (ofClient: TraceContext | undefined) => TraceContext | undefined = (ofClient) => ofClient
  readonly #subscribers = new Map<Subscriber, { failures: number }>()
  readonly #onFailure: (subscriber: string, reason: string) => void
  #waiting: BridgeEvent[] = []
  #scheduled = false
  #seq = 0
  #guards: Subscriber[] = []

  /** @param onFailure hears of subscribers that throw */
  constructor(onFailure: (subscriber: string, reason: string) => void = () => {}) {
    this.#onFailure = onFailure
  }

  /** Whether a subscriber must be asked before a call is made. */
  get isGuarded(): boolean {
    return this.#guards.length > 0
  }

  emit(body: EventBody): void {
    if (!this.active) return
    this.#seq += 1
    const event = body as BridgeEvent
    event.seq = this.#seq
    event.at = Date.now()
    event.mono = performance.now()
    this.#waiting.push(event)
    if (this.#waiting.length === MAX_WAITING) setImmediate(() => this.flush())
    if (this.#scheduled) return
    this.#scheduled = true
    setTimeout(() => this.flush(), this.#isWatched ? DELIVER_TO_WATCHED_MS : DELIVER_AFTER_MS)
  }

  /** Resolves when no subscriber objects to a call whose event was emitted. @throws BridgeError of the one that does */
  async allow(call: CallStarted): Promise<void> {
    this.flush()
    for (const guard of this.#guards) await guard.before!(call as CallStarted & Stamp)
  }

  /** @returns what ends the subscription */
  subscribe(subscriber: Subscriber): () => void {
    // What happened before is not its business.
    this.flush()
    this.#subscribers.set(subscriber, { failures: 0 })
    this.#count()
    return () => this.#drop(subscriber)
  }

  /** Deliver what waits now: somebody wants to know, or the bridge is about to end. */
  flush(): void {
    this.#scheduled = false
    const events = this.#waiting
    if (events.length === 0) return
    this.#waiting = []
    for (const [subscriber, state] of this.#subscribers) {
      try {
        subscriber.receive(events)
        state.failures = 0
      } catch (error) {
        state.failures += 1
        if (state.failures === 1) this.#onFailure(subscriber.name, messageOf(error))
        // A guard stays: without it, calls would be made that it must see.
        if (state.failures >= MAX_FAILURES && !subscriber.before) this.#drop(subscriber)
      }
    }
  }

  /** Deliver what waits, and let every subscriber finish. Never rejects. */
  async close(): Promise<void> {
    this.flush()
    const subscribers = [...this.#subscribers.keys()]
    this.#subscribers.clear()
    this.#count()
    await Promise.allSettled(subscribers.map(async (subscriber) => subscriber.close?.()))
  }

  get #isWatched(): boolean {
    for (const { isWatched } of this.#subscribers.keys()) if (isWatched === true) return true
    return false
  }

  #drop(subscriber: Subscriber): void {
    this.flush()
    this.#subscribers.delete(subscriber)
    this.#count()
  }

  #count(): void {
    this.active = this.#subscribers.size > 0
    this.#guards = [...this.#subscribers.keys()].filter((subscriber) => subscriber.before !== undefined)
  }
}

/** For code that runs without a bridge: it has no subscribers. */
export const NO_EVENTS = new EventStream()
