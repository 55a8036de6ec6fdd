// The page's state: every bridge, updated by its events. After a change, views are redrawn at most once per frame.
import { useEffect, useState } from 'preact/hooks'
import type { PageMessage } from '../../src/serve/page/state/page-message.ts'
import { applyEvent, type CellView, emptyState, type PageState } from '../../src/serve/page/state/page-state.ts'
import { ApiError, request } from './api.ts'

interface BridgeState extends PageState {
  id: string
  title: string
  /** It has ended. */
  isGone: boolean
}

export type Connection = 'connecting' | 'live' | 'lost' | 'locked'

const RETRY_MS = 1_000
/** How long an ended bridge stays visible. */
const GONE_MS = 10_000
/** Cells kept here; older ones come from the record. */
const MAX_CELLS = 500

class Store {
  connection: Connection = 'connecting'
  readonly bridges = new Map<string, BridgeState>()
  /** Increases when servers have changed. */
  serverChanges = 0
  readonly #listeners = new Set<() => void>()
  #isScheduled = false

  /** @returns a function that ends the subscription */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The bridge that serves the page: its snapshot arrives first. */
  get ownId(): string {
    return this.bridges.keys().next().value ?? ''
  }

  /** Newest first. */
  cells(): (CellView & { source: string })[] {
    const all = [...this.bridges.values()].flatMap(({ id, cells }) =>
      [...cells.values()].map((cell) => Object.assign(cell, { source: id })),
    )
    return all.toSorted((a, b) => b.at - a.at || b.number - a.number)
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
    this.bridges.clear()
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

  #take(message: PageMessage): void {
    if (message.kind === 'snapshot') {
      const { sessions, cells, questions } = message.content
      this.bridges.set(message.source, {
        id: message.source,
        title: message.title,
        isGone: false,
        sessions: new Map(sessions.map((one) => [one.id, one])),
        cells: new Map(cells.map((one) => [one.id, one])),
        questions: new Map(questions.map((one) => [one.id, one])),
      })
      this.serverChanges += 1
    } else if (message.kind === 'gone') this.#end(message.source)
    else {
      const about = { id: message.source, title: message.title, isGone: false }
      const state = this.bridges.get(message.source) ?? { ...emptyState(), ...about }
      this.bridges.set(message.source, state)
      for (const event of message.content) {
        if (event.type === 'servers.changed') this.serverChanges += 1
        applyEvent(state, event)
      }
      while (state.cells.size > MAX_CELLS) state.cells.delete(state.cells.keys().next().value!)
    }
    this.#changed()
  }

  /** Cells that ran in that bridge have ended with it. */
  #end(source: string): void {
    const state = this.bridges.get(source)
    if (!state) return
    state.isGone = true
    for (const session of state.sessions.values()) session.ended = true
    for (const cell of state.cells.values())
      if (cell.status === 'running') Object.assign(cell, { status: 'killed', durationMs: Date.now() - cell.at })
    this.serverChanges += 1
    setTimeout(() => {
      if (this.bridges.get(source) !== state) return
      this.bridges.delete(source)
      this.#changed()
    }, GONE_MS)
  }

  #connect(connection: Connection): void {
    if (this.connection === connection) return
    this.connection = connection
    this.#changed()
  }

  #changed(): void {
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
  const [, draw] = useState({})
  useEffect(() => store.listen(() => draw({})), [])
  return store
}
