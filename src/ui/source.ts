// A bridge that the page shows. The page has a list of them, so that it can show every bridge of the user.
import type { Bridge } from '../bridge.ts'
import type { EventStream } from '../events/event-stream.ts'
import { History } from './history.ts'
import { pageEvent, type PageEvent } from './page-event.ts'
import type { CellView, QuestionView, SessionView } from './page-state.ts'

/** What a page is sent first. */
export interface Snapshot {
  sessions: SessionView[]
  /** The newest, the oldest of them first. */
  cells: CellView[]
  questions: QuestionView[]
  tokens: [day: string, count: number][]
}

export interface Source {
  readonly id: string
  readonly title: string
  readonly history: History
  snapshot(): Snapshot
  /** @returns what ends the subscription */
  subscribe(listener: (events: readonly PageEvent[]) => void): () => void
  /** @returns whether the cell was running */
  interrupt(cell: string): boolean
}

const SNAPSHOT_CELLS = 50
const SNAPSHOT_CHARS = 8 * 1024 * 1024

/** The bridge of this process. */
export class LocalSource implements Source {
  readonly id = String(process.pid)
  readonly title = `Bridge ${process.pid}`
  readonly history = new History()
  readonly #bridge: Pick<Bridge, 'interruptCell'>
  readonly #listeners = new Set<(events: readonly PageEvent[]) => void>()
  readonly #leave: () => void

  constructor(bridge: Pick<Bridge, 'interruptCell'> & { events: EventStream }) {
    this.#bridge = bridge
    this.#leave = bridge.events.subscribe({
      name: 'page',
      receive: (events) => {
        const shown = events.map(pageEvent).filter((event) => event !== undefined)
        for (const event of shown) this.history.add(event)
        if (shown.length > 0) for (const listener of this.#listeners) listener(shown)
      },
    })
  }

  snapshot(): Snapshot {
    const { sessions, cells, questions, tokens } = this.history.state
    const newest: CellView[] = []
    let chars = 0
    for (const cell of [...cells.values()].slice(-SNAPSHOT_CELLS).toReversed()) {
      chars += JSON.stringify(cell).length
      if (chars > SNAPSHOT_CHARS && cell.status !== 'running') continue
      newest.unshift(cell)
    }
    const open = [...sessions.values()].filter((session) => !session.ended)
    return { sessions: open, cells: newest, questions: [...questions.values()], tokens: [...tokens] }
  }

  subscribe(listener: (events: readonly PageEvent[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  interrupt(cell: string): boolean {
    return this.#bridge.interruptCell(cell)
  }

  close(): void {
    this.#leave()
  }
}
