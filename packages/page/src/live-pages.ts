// Sends events to all open pages as server-sent events. A page that does not read is disconnected; it reconnects and
// gets a new snapshot.
import type { ServerResponse } from 'node:http'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { eventsOf } from './state/begun.ts'
import { History } from './state/history.ts'
import { pageEvent, type PageEvent } from './state/page-event.ts'
import type { PageMessage, Snapshot } from './state/page-message.ts'
import type { CellView } from './state/page-state.ts'

const MAX_PAGES = 100
/** Events come in bursts and are sent together; a shorter delay would not be visible. */
const GATHER_MS = 30
/** With more events at once, sending a new snapshot is cheaper. */
const MAX_GATHERED = 20_000
const ALIVE_MS = 15_000
const MAX_UNREAD_BYTES = 32 * 1024 * 1024
const SNAPSHOT_CELLS = 50
const SNAPSHOT_CHARS = 8 * 1024 * 1024

export class LivePages {
  readonly history = new History()
  readonly #pages = new Set<ServerResponse>()
  readonly #alive: NodeJS.Timeout
  readonly #leave: () => void
  #gathered: PageEvent[] = []
  #timer: NodeJS.Timeout | undefined

  constructor({ live, events }: Pick<Bridge, 'live' | 'events'>) {
    for (const event of live ? eventsOf(live) : []) this.history.add(event)
    this.#leave = events.subscribe({
      name: 'page',
      isWatched: true,
      receive: (all) => this.#take(all.map(pageEvent).filter((event) => event !== undefined)),
    })
    this.#alive = setInterval(() => this.#write(': alive\n\n'), ALIVE_MS).unref()
  }

  get count(): number {
    return this.#pages.size
  }

  /** @returns false when too many pages are open */
  open(response: ServerResponse): boolean {
    if (this.#pages.size >= MAX_PAGES) return false
    this.#send()
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
    response.write(this.#snapshotText())
    this.#pages.add(response)
    response.once('close', () => this.#pages.delete(response))
    return true
  }

  close(): void {
    clearInterval(this.#alive)
    clearTimeout(this.#timer)
    for (const page of this.#pages) page.destroy()
    this.#leave()
  }

  #take(events: readonly PageEvent[]): void {
    for (const event of events) this.history.add(event)
    if (this.#pages.size === 0) return
    for (const event of events) this.#gathered.push(event)
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS).unref()
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const events = this.#gathered
    this.#gathered = []
    if (events.length === 0) return
    this.#write(events.length > MAX_GATHERED ? this.#snapshotText() : textOf({ kind: 'events', content: events }))
  }

  /** Formats the text once for all pages. */
  #write(text: string): void {
    for (const page of this.#pages) {
      if (page.writableLength > MAX_UNREAD_BYTES) page.destroy()
      else page.write(text)
    }
  }

  #snapshotText(): string {
    return textOf({ kind: 'snapshot', content: snapshotOf(this.history) })
  }
}

function snapshotOf({ state: { sessions, cells, questions } }: History): Snapshot {
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

function textOf(message: PageMessage): string {
  return `data: ${JSON.stringify(message)}\n\n`
}
