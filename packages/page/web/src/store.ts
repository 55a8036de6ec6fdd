// The page's state of its bridge, updated by events. After a change, views are redrawn at most once per frame.
import { useEffect, useState } from 'preact/hooks'
import type { SignInEnd } from '../../src/state/page-event.ts'
import type { PageMessage } from '../../src/state/page-message.ts'
import { applyEvent, type CellView, emptyState, type PageState } from '../../src/state/page-state.ts'
import { ApiError, request } from './api.ts'

export type Connection = 'connecting' | 'live' | 'lost' | 'locked'

const RETRY_MS = 1_000
/** Cells kept here; older ones come from the record. */
const MAX_CELLS = 500

class Store {
  connection: Connection = 'connecting'
  state: PageState = emptyState()
  /** Increases when servers have changed. */
  serverChanges = 0
  /** How the last sign-in to each server has ended, while the page was open. */
  readonly signIns = new Map<string, SignInEnd>()
  /** Increases with every change. */
  version = 0
  readonly #listeners = new Set<() => void>()
  #isScheduled = false

  /** @returns a function that ends the subscription */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Newest first. */
  cells(): CellView[] {
    return [...this.state.cells.values()].toSorted((a, b) => b.at - a.at || b.number - a.number)
  }

  /** Follows the bridge as long as the page is open. */
  async follow(): Promise<never> {
    for (;;) {
      try {
        await this.#read()
        this.#connect('lost')
      } catch (error) {
        this.#connect(error instanceof ApiError && error.status === 401 ? 'locked' : 'lost')
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }

  async #read(): Promise<void> {
    const response = await request('events')
    if (!response.ok || !response.body) throw new ApiError(response.status, '')
    this.#connect('live')
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
      for (const text of texts) if (text.startsWith('data: ')) this.#take(JSON.parse(text.slice(6)) as PageMessage)
    }
  }

  #take({ kind, content }: PageMessage): void {
    if (kind === 'snapshot') {
      const { sessions, cells, questions } = content
      this.state = {
        sessions: new Map(sessions.map((one) => [one.id, one])),
        cells: new Map(cells.map((one) => [one.id, one])),
        questions: new Map(questions.map((one) => [one.id, one])),
      }
      this.serverChanges += 1
    } else {
      for (const event of content) {
        if (event.type === 'servers.changed') {
          this.serverChanges += 1
          if (event.signIn) this.signIns.set(event.signIn.server, event.signIn)
        }
        applyEvent(this.state, event)
      }
      const { cells } = this.state
      while (cells.size > MAX_CELLS) cells.delete(cells.keys().next().value!)
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
