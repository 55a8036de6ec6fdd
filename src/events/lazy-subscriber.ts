// An observer whose code is loaded when there is something to observe: a client that only lists the tools does not wait for it.
import type { BridgeEvent, CallStarted, EventType, Stamp } from './event.ts'
import type { Subscriber } from './event-stream.ts'

interface LazyOptions {
  name: string
  /** The observer must see each call before it is made. */
  guards: boolean
  /** The types that load it; those before are kept for it. */
  wakes: readonly EventType[]
  load: () => Promise<Subscriber>
  onError: (error: unknown) => void
}

/** Events that wait for the code; it takes less than a second. */
const MAX_WAITING = 10_000

export class LazySubscriber implements Subscriber {
  readonly name: string
  readonly before?: (call: CallStarted & Stamp) => Promise<void>
  readonly #options: LazyOptions
  #waiting: BridgeEvent[] = []
  #loading: Promise<Subscriber> | undefined
  #loaded: Subscriber | undefined

  constructor(options: LazyOptions) {
    this.name = options.name
    this.#options = options
    if (options.guards) this.before = async (call) => (await this.#load()).before?.(call)
  }

  get isWatched(): boolean {
    return this.#loaded?.isWatched ?? false
  }

  /** Load it now, so that what it is loaded for need not wait. */
  start(): void {
    this.#load().catch(this.#options.onError)
  }

  receive(events: readonly BridgeEvent[]): void {
    if (this.#loaded) return this.#loaded.receive(events)
    const { wakes, onError } = this.#options
    this.#waiting.push(...events.slice(0, MAX_WAITING - this.#waiting.length))
    if (events.some(({ type }) => wakes.includes(type))) this.#load().catch(onError)
  }

  async close(): Promise<void> {
    await this.#loading?.then((subscriber) => subscriber.close?.()).catch(this.#options.onError)
  }

  #load(): Promise<Subscriber> {
    this.#loading ??= this.#options.load().then((subscriber) => {
      this.#loaded = subscriber
      subscriber.receive(this.#waiting)
      this.#waiting = []
      return subscriber
    })
    return this.#loading
  }
}
