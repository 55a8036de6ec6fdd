// The page's state of its bridge, updated by events. After a change, views are redrawn at most once per frame.
import { useEffect, useState } from 'preact/hooks'
import { Ledger, type Run } from '@sandbridge/core/observe/runs'
import type { PageMessage } from '../../src/live-pages.ts'
import { ApiError, request } from './api.ts'

export type Connection = 'connecting' | 'live' | 'lost' | 'locked'

const RETRY_MS = 1_000
/** Runs kept here; older ones come from the record. */
const KEEPS = { runs: 500, chars: Infinity }

/** The lock of the tab that reads, and the channel, of this origin only, on which it tells the others. */
const TABS = 'sandbridge-events'
type Told = { isNew: true } | { connection: Connection } | { message: PageMessage }

class Store {
  connection: Connection = 'connecting'
  state = new Ledger(KEEPS)
  serverChanges = 0
  /** How the last sign-in to each server has ended, while the page was open. */
  readonly signIns = new Map<string, { problem: string | undefined }>()
  /** Increases with every change. */
  version = 0
  readonly #listeners = new Set<() => void>()
  readonly #tabs = new BroadcastChannel(TABS)
  /** Set in the tab that reads. */
  #reading: AbortController | undefined
  #isScheduled = false

  /** @returns a function that ends the subscription */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Newest first. */
  cells(): Run[] {
    return [...this.state.runs.values()].toSorted((a, b) => b.at - a.at || b.number - a.number)
  }

  /**
   * Follows the bridge as long as the page is open. One tab reads the events for all others: a browser has six
   * connections to one address.
   */
  follow(): void {
    this.#tabs.onmessage = ({ data }: MessageEvent<Told>) => {
      if ('isNew' in data) this.#reading?.abort()
      else if (this.#reading) return
      else if ('message' in data) this.#take(data.message)
      else this.#connect(data.connection)
    }
    // The tab that reads begins anew, so that this one hears the whole state.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#tabs.postMessage({ isNew: true } satisfies Told)
    void navigator.locks.request(TABS, () => this.#readForAll())
  }

  async #readForAll(): Promise<never> {
    for (;;) {
      const reading = (this.#reading = new AbortController())
      try {
        await this.#read(reading.signal)
        this.#tell({ connection: 'lost' })
      } catch (error) {
        if (reading.signal.aborted) continue
        this.#tell({ connection: error instanceof ApiError && error.status === 401 ? 'locked' : 'lost' })
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }

  #tell(told: Exclude<Told, { isNew: true }>): void {
    if ('message' in told) this.#take(told.message)
    else this.#connect(told.connection)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#tabs.postMessage(told)
  }

  async #read(signal: AbortSignal): Promise<void> {
    const response = await request('events', { signal })
    if (!response.ok || !response.body) throw new ApiError(response.status, '')
    this.#tell({ connection: 'live' })
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let pieces: string[] = []
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      if (!value.includes('\n\n') && !(value.startsWith('\n') && pieces.at(-1)?.endsWith('\n'))) {
        pieces.push(value)
        continue
      }
      const texts = (pieces.join('') + value).split('\n\n')
      pieces = [texts.pop()!]
      for (const text of texts)
        if (text.startsWith('data: ')) this.#tell({ message: JSON.parse(text.slice(6)) as PageMessage })
    }
  }

  #take({ kind, content }: PageMessage): void {
    if (kind === 'state') {
      this.state = Ledger.from(content, KEEPS)
      this.serverChanges += 1
    } else {
      for (const event of content) {
        if (/^(server\.|sign-in|config\.)/.test(event.type)) this.serverChanges += 1
        if (event.type === 'sign-in') this.signIns.set(event.server, { problem: event.error?.message })
        this.state.take(event)
      }
    }
    this.#changed()
  }

  #connect(connection: Connection): void {
    if (this.connection === connection) return
    this.connection = connection
    this.#changed()
  }

  #changed(): void {
    this.version += 1
    if (this.#isScheduled) return
    this.#isScheduled = true
    const draw = (): void => {
      if (!this.#isScheduled) return
      this.#isScheduled = false
      for (const listener of this.#listeners) listener()
    }
    requestAnimationFrame(draw)
    // A hidden page gets no animation frames.
    setTimeout(draw, 250)
  }
}

export const store = new Store()

/** Redraws a component after every change. */
export function useStore(): Store {
  const [, draw] = useState(store.version)
  useEffect(() => {
    const redraw = (): void => draw(store.version)
    // A change between the first drawing and now had no listener.
    redraw()
    return store.listen(redraw)
  }, [])
  return store
}
