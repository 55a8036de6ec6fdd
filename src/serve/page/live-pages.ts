// Sends events to all open pages as server-sent events. A page that does not read is disconnected; it reconnects and
// gets a new snapshot.
import type { ServerResponse } from 'node:http'
import type { PageEvent } from './state/page-event.ts'
import type { PageMessage } from './state/page-message.ts'
import { snapshotOf, type Source } from './sources/source.ts'
import { Sources, type SourcesListener } from './sources/sources.ts'

const MAX_PAGES = 100
/** Events come in bursts and are sent together; a shorter delay would not be visible. */
const GATHER_MS = 30
/** With more events at once, sending a new snapshot is cheaper. */
const MAX_GATHERED = 20_000
const ALIVE_MS = 15_000
const MAX_UNREAD_BYTES = 32 * 1024 * 1024

export class LivePages implements SourcesListener {
  readonly sources: Sources
  readonly #pages = new Set<ServerResponse>()
  readonly #gathered = new Map<Source, PageEvent[]>()
  readonly #alive: NodeJS.Timeout
  #timer: NodeJS.Timeout | undefined

  /** @param own the bridge that serves the pages */
  constructor(own: Source, stateDir: string) {
    this.sources = new Sources(own, stateDir, this)
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
    for (const source of this.sources.all()) response.write(snapshotText(source))
    this.#pages.add(response)
    this.sources.watch()
    response.once('close', () => {
      this.#pages.delete(response)
      if (this.#pages.size === 0) this.sources.unwatch()
    })
    return true
  }

  added(source: Source): void {
    this.#write(snapshotText(source))
  }

  gone(source: Source): void {
    this.#send()
    this.#write(textOf({ kind: 'gone', source: source.id, title: source.title }))
  }

  events(source: Source, events: readonly PageEvent[]): void {
    if (this.#pages.size === 0) return
    const gathered = this.#gathered.get(source) ?? []
    this.#gathered.set(source, gathered)
    for (const event of events) gathered.push(event)
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS).unref()
  }

  close(): void {
    clearInterval(this.#alive)
    clearTimeout(this.#timer)
    for (const page of this.#pages) page.destroy()
    this.sources.close()
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const [source, events] of this.#gathered) {
      const { id, title } = source
      const isFlood = events.length > MAX_GATHERED
      this.#write(isFlood ? snapshotText(source) : textOf({ kind: 'events', source: id, title, content: events }))
    }
    this.#gathered.clear()
  }

  /** Formats the text once for all pages. */
  #write(text: string): void {
    for (const page of this.#pages) {
      if (page.writableLength > MAX_UNREAD_BYTES) page.destroy()
      else page.write(text)
    }
  }
}

function snapshotText({ id, title, history }: Source): string {
  return textOf({ kind: 'snapshot', source: id, title, content: snapshotOf(history) })
}

function textOf(message: PageMessage): string {
  return `data: ${JSON.stringify(message)}\n\n`
}
