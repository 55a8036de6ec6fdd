// Loads an observer's code at the first event that it needs: a client that only lists tools does not wait.
import type { Told } from '../runs/run.ts'
import type { EventOf, EventType } from './event.ts'
import type { Subscriber } from './event-stream.ts'

interface LazyOptions {
  name: string
  /** The observer must approve each call before it is made. */
  guards: boolean
  /** Event types that load the code; earlier events are kept for it. */
  wakes: readonly EventType[]
  load: () => Promise<Subscriber>
  onError: (error: unknown) => void
}

/** Most events kept until one loads the code. From then on, none may be missing. */
const MAX_WAITING = 10_000

export class LazySubscriber implements Subscriber {
  readonly name: string
  readonly before?: (call: EventOf<'call.started'>) => Promise<void>
  readonly #options: LazyOptions
  /** Undefined if the code cannot be loaded. */
  #waiting: Told[] | undefined = []
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

  /** Load the code now, so that a later event need not wait for it. */
  start(): void {
    this.#load().catch(this.#options.onError)
  }

  receive(told: readonly Told[]): void {
    if (this.#loaded) return this.#loaded.receive(told)
    const { wakes, onError } = this.#options
    if (told.some(({ event }) => wakes.includes(event.type))) this.#load().catch(onError)
    const waiting = this.#waiting
    if (!waiting) return
    for (const one of told) if (this.#loading || waiting.length < MAX_WAITING) waiting.push(one)
  }

  async close(): Promise<void> {
    await this.#loading?.then((subscriber) => subscriber.close?.()).catch(this.#options.onError)
  }

  #load(): Promise<Subscriber> {
    this.#loading ??= this.#options
      .load()
      .then((subscriber) => {
        this.#loaded = subscriber
        subscriber.receive(this.#waiting!)
        return subscriber
      })
      .finally(() => (this.#waiting = undefined))
    return this.#loading
  }
}
