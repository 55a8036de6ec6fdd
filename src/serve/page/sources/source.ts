// A bridge that the page shows: the one in this process, or another one of the same user.
import { homedir } from 'node:os'
import type { Bridge } from '../../../bridge/bridge.ts'
import type { EventStream } from '../../../observe/events/event-stream.ts'
import { answerFrom } from '../bridge-routes.ts'
import { History } from '../state/history.ts'
import { pageEvent, type PageEvent } from '../state/page-event.ts'
import type { Snapshot } from '../state/page-message.ts'
import type { CellView } from '../state/page-state.ts'
import type { Routes } from '../route.ts'

export type PageListener = (events: readonly PageEvent[]) => void

export interface Source {
  readonly id: string
  readonly title: string
  readonly history: History
  /** @returns a function that ends the subscription */
  subscribe(listener: PageListener): () => void
  /**
   * Lets the bridge answer one of its routes.
   * @throws BridgeError of the route, SHUTTING_DOWN when the bridge is gone
   */
  ask(path: string, params: unknown): Promise<unknown>
  close(): void
}

const SNAPSHOT_CELLS = 50
const SNAPSHOT_CHARS = 8 * 1024 * 1024

/** A title that distinguishes several bridges. */
export function bridgeTitle({ pid, cwd }: { pid: number; cwd: string }): string {
  const home = homedir()
  const place = cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd
  return `Bridge ${pid} in ${place}`
}

export function snapshotOf({ state: { sessions, cells, questions } }: History): Snapshot {
  const newest: CellView[] = []
  let chars = 0
  for (const cell of [...cells.values()].slice(-SNAPSHOT_CELLS).toReversed()) {
    chars += JSON.stringify(cell).length
    if (chars > SNAPSHOT_CHARS && cell.status !== 'running') continue
    newest.unshift(cell)
  }
  const open = [...sessions.values()].filter((session) => !session.ended)
  return { sessions: open, cells: newest, questions: [...questions.values()] }
}

/** The bridge of this process. */
export class LocalSource implements Source {
  readonly id: string
  readonly title = bridgeTitle({ pid: process.pid, cwd: process.cwd() })
  readonly history = new History()
  readonly #routes: Routes
  readonly #listeners = new Set<PageListener>()
  readonly #leave: () => void

  constructor(bridge: Pick<Bridge, 'id'> & { events: EventStream }, routes: Routes) {
    this.id = bridge.id
    this.#routes = routes
    this.#leave = bridge.events.subscribe({
      name: 'page',
      isWatched: true,
      receive: (events) => {
        const shown = events.map(pageEvent).filter((event) => event !== undefined)
        for (const event of shown) this.history.add(event)
        if (shown.length > 0) for (const listener of this.#listeners) listener(shown)
      },
    })
  }

  subscribe(listener: PageListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  ask(path: string, params: unknown): Promise<unknown> {
    return answerFrom(this.#routes, path, params)
  }

  close(): void {
    this.#leave()
  }
}
