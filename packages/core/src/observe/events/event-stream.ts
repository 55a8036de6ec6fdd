// The stream of events, in batches after the work: no subscriber delays a call, except a guard (`before`).
import { messageOf } from '../../errors.ts'
import { Ledger } from '../runs/ledger.ts'
import type { Told } from '../runs/run.ts'
import type { BridgeEvent, EventBody, EventOf } from './event.ts'
import type { TraceContext } from './trace-context.ts'

export interface Subscriber {
  /** Shown in logs. */
  name: string
  /** Receives the events since the last delivery, each with its run and call. Must return soon and defer slow work. */
  receive(told: readonly Told[]): void
  /** True while a person watches the subscriber's output: events then arrive sooner. */
  readonly isWatched?: boolean
  /** Called before each call is made, which waits. @throws BridgeError to refuse the call */
  before?(call: EventOf<'call.started'>): Promise<void>
  /** The bridge is ending: save what is not saved yet. */
  close?(): Promise<void>
}

/** A subscriber that throws this many times in a row is removed. */
const MAX_FAILURES = 10

/** Single delivery costs a call several times as much, and a shorter delay slows a cell that makes many calls. */
const DELIVER_AFTER_MS = 100
const DELIVER_TO_WATCHED_MS = 25
/** A run that its client has got is read soon, unless runs end all the time. The response to the client goes first. */
const DELIVER_ENDS_MS = 10
/** This many waiting events are delivered without further delay. */
const MAX_WAITING = 5_000

export class EventStream {
  /** True if there are subscribers. Otherwise callers need not construct events. */
  active = false
  /** What is open, as of the last delivery. */
  readonly ledger = new Ledger()
  /** Returns the trace of a run, given the client's. Replaced when the bridge exports spans. */
  startTrace: (ofClient: TraceContext | undefined) => TraceContext | undefined = (ofClient) => ofClient
  readonly #subscribers = new Map<Subscriber, { failures: number }>()
  readonly #onFailure: (subscriber: string, reason: string) => void
  #waiting: BridgeEvent[] = []
  #scheduled = false
  #deliveredAt = 0
  #seq = 0
  #guards: Subscriber[] = []

  /** @param onFailure called at a subscriber's first failure in a row */
  constructor(onFailure: (subscriber: string, reason: string) => void = () => {}) {
    this.#onFailure = onFailure
  }

  /** True if a subscriber must approve each call. */
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
    const isEnd = event.type === 'run.ended' || event.type === 'session.ended'
    if (isEnd && event.mono - this.#deliveredAt > DELIVER_AFTER_MS) setTimeout(() => this.flush(), DELIVER_ENDS_MS)
    if (this.#scheduled) return
    this.#scheduled = true
    setTimeout(() => this.flush(), this.#isWatched ? DELIVER_TO_WATCHED_MS : DELIVER_AFTER_MS)
  }

  /** Resolves when every guard allows the call. Emit the call's event first. @throws BridgeError of a guard */
  async allow(call: EventOf<'call.started'>): Promise<void> {
    this.flush()
    for (const guard of this.#guards) await guard.before!(call)
  }

  /** @returns a function that ends the subscription */
  subscribe(subscriber: Subscriber): () => void {
    // Earlier events are not for this subscriber.
    this.flush()
    this.#subscribers.set(subscriber, { failures: 0 })
    this.#count()
    return () => this.#drop(subscriber)
  }

  /** Deliver waiting events now: a reader wants the current state, or the bridge is about to end. */
  flush(): void {
    this.#scheduled = false
    if (this.#waiting.length === 0) return
    this.#deliveredAt = performance.now()
    const events = this.#waiting
    this.#waiting = []
    const told = events.map((event) => this.ledger.take(event))
    for (const [subscriber, state] of this.#subscribers) {
      try {
        subscriber.receive(told)
        state.failures = 0
      } catch (error) {
        state.failures += 1
        if (state.failures === 1) this.#onFailure(subscriber.name, messageOf(error))
        // Never remove a guard: calls would be made that it must check first.
        if (state.failures >= MAX_FAILURES && !subscriber.before) this.#drop(subscriber)
      }
    }
  }

  /** Deliver waiting events, and let every subscriber finish. Never rejects. */
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

/** A stream without subscribers, for code that runs without a bridge. */
export const NO_EVENTS = new EventStream()
