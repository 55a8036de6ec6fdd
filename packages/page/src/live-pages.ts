// Server-sent events to all open pages. One that does not read is cut off; reconnecting, it gets a snapshot.
import type { ServerResponse } from 'node:http'
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import type { BridgeEvent } from '@sandbridge/core/observe/events'
import { Ledger, type LedgerState, type Run } from '@sandbridge/core/observe/runs'
import { pageEvent } from './page-event.ts'

export type PageMessage = { kind: 'state'; content: LedgerState } | { kind: 'events'; content: BridgeEvent[] }

const MAX_PAGES = 100
/** Events come in bursts and are sent together; a shorter delay would not be visible. */
const GATHER_MS = 30
/** With more events at once, sending a new snapshot is cheaper. */
const MAX_GATHERED = 20_000
const ALIVE_MS = 15_000
const MAX_UNREAD_BYTES = 32 * 1024 * 1024
const SNAPSHOT_RUNS = 50
const SNAPSHOT_CHARS = 8 * 1024 * 1024
/** What is kept for pages that open later: old runs lose their output and keep their outline. */
const KEEPS = { runs: 10_000, chars: 64 * 1024 * 1024 }

export class LivePages {
  readonly ledger: Ledger
  readonly #pages = new Set<ServerResponse>()
  readonly #alive: NodeJS.Timeout
  readonly #leave: () => void
  #gathered: BridgeEvent[] = []
  #timer: NodeJS.Timeout | undefined

  constructor({ events }: Pick<Bridge, 'events'>) {
    events.flush()
    this.ledger = Ledger.from(structuredClone(events.ledger.state), KEEPS)
    this.#leave = events.subscribe({
      name: 'page',
      isWatched: true,
      receive: (told) => this.#take(told.flatMap(({ event }) => pageEvent(event) ?? [])),
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

  #take(events: readonly BridgeEvent[]): void {
    for (const event of events) this.ledger.take(event)
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
    return textOf({ kind: 'state', content: newestOf(this.ledger.state) })
  }
}

function newestOf(state: LedgerState): LedgerState {
  const runs: Run[] = []
  let chars = 0
  for (const run of state.runs.slice(-SNAPSHOT_RUNS).toReversed()) {
    chars += JSON.stringify(run).length
    if (chars <= SNAPSHOT_CHARS || run.status === 'running') runs.unshift(run)
  }
  return { ...state, sessions: state.sessions.filter(({ ended }) => !ended), runs }
}

function textOf(message: PageMessage): string {
  return `data: ${JSON.stringify(message)}\n\n`
}
