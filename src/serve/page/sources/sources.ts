// The bridges that the page shows: the one that serves it, and all others of this user. The others are looked for and
// watched only while a page is open and shortly afterwards.
import { BridgeError, messageOf } from '../../../errors.ts'
import { liveBridges } from '../../../observe/live/live-folder.ts'
import { withTimeout } from '../../../util/async/wait.ts'
import type { PageEvent } from '../state/page-event.ts'
import { RemoteSource } from './remote-source.ts'
import type { Source } from './source.ts'

export interface SourcesListener {
  added(source: Source): void
  gone(source: Source): void
  events(source: Source, events: readonly PageEvent[]): void
}

/** A bridge's response, or why it has none. */
export interface AnswerOfBridge<T> {
  source: string
  title: string
  value?: T
  problem?: string
}

const LOOK_EVERY_MS = 1_000
/** Keeps the state for a page that is reloaded. */
const KEEP_MS = 30_000
/** A slower bridge must not delay the others. */
const ANSWER_MS = 3_000

export class Sources {
  readonly #own: Source
  readonly #stateDir: string
  readonly #listener: SourcesListener
  readonly #others = new Map<string, RemoteSource>()
  readonly #attaching = new Set<string>()
  readonly #leaveOwn: () => void
  #looking: NodeJS.Timeout | undefined
  #ending: NodeJS.Timeout | undefined

  constructor(own: Source, stateDir: string, listener: SourcesListener) {
    this.#own = own
    this.#stateDir = stateDir
    this.#listener = listener
    this.#leaveOwn = own.subscribe((events) => listener.events(own, events))
  }

  /** The page's own bridge first. */
  all(): Source[] {
    return [this.#own, ...this.#others.values()]
  }

  /** @param id missing means the page's own @throws BridgeError TOOL_ARGUMENTS_INVALID for a bridge that is gone */
  find(id: string | undefined): Source {
    const source = id === undefined || id === this.#own.id ? this.#own : this.#others.get(id)
    if (source) return source
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'That bridge has ended', { hint: '' })
  }

  /** Sends the same request to every bridge. Never rejects. */
  async askAll<T>(path: string): Promise<AnswerOfBridge<T>[]> {
    return Promise.all(
      this.all().map(async (source): Promise<AnswerOfBridge<T>> => {
        const { id, title } = source
        try {
          const value = await withTimeout(source.ask(path, {}), ANSWER_MS, () => {
            throw new BridgeError('SHUTTING_DOWN', `${title} does not answer`)
          })
          return { source: id, title, value: value as T }
        } catch (error) {
          return { source: id, title, problem: messageOf(error) }
        }
      }),
    )
  }

  /** A page is open. */
  watch(): void {
    clearTimeout(this.#ending)
    if (this.#looking) return
    this.#looking = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref()
    void this.#look()
  }

  /** The last page was closed. */
  unwatch(): void {
    clearTimeout(this.#ending)
    this.#ending = setTimeout(() => this.#stop(), KEEP_MS).unref()
  }

  close(): void {
    clearTimeout(this.#ending)
    this.#stop()
    this.#leaveOwn()
    this.#own.close()
  }

  async #look(): Promise<void> {
    const isNew = (id: string): boolean => id !== this.#own.id && !this.#others.has(id) && !this.#attaching.has(id)
    for (const bridge of await liveBridges(this.#stateDir)) {
      if (!isNew(bridge.id) || !this.#looking) continue
      this.#attaching.add(bridge.id)
      // A bridge that does not answer is retried.
      void RemoteSource.attach(bridge, () => this.#drop(bridge.id))
        .then((source) => this.#add(source))
        .catch(() => {})
        .finally(() => this.#attaching.delete(bridge.id))
    }
  }

  #add(source: RemoteSource): void {
    if (!this.#looking) return source.close()
    this.#others.set(source.id, source)
    source.subscribe((events) => this.#listener.events(source, events))
    this.#listener.added(source)
  }

  #drop(id: string): void {
    const source = this.#others.get(id)
    if (!source) return
    this.#others.delete(id)
    this.#listener.gone(source)
  }

  #stop(): void {
    clearInterval(this.#looking)
    this.#looking = undefined
    for (const source of this.#others.values()) source.close()
  }
}
