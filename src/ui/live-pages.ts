// Sends what happens to every open page, as server-sent events. A page that does not read is disconnected: it asks again, and gets what it has missed.
import type { ServerResponse } from 'node:http'
import type { PageEvent } from './page-event.ts'
import type { Source } from './source.ts'

const MAX_PAGES = 100
/** Events come in bursts. Together they are one message, and an eye sees no sooner. */
const GATHER_MS = 30
/** After this many at once a page is better told everything anew. */
const MAX_GATHERED = 20_000
const ALIVE_MS = 15_000
const MAX_UNREAD_BYTES = 32 * 1024 * 1024

export class LivePages {
  readonly #sources: readonly Source[]
  readonly #pages = new Set<ServerResponse>()
  readonly #gathered = new Map<string, PageEvent[]>()
  readonly #leave: (() => void)[]
  readonly #alive: NodeJS.Timeout
  #timer: NodeJS.Timeout | undefined

  constructor(sources: readonly Source[]) {
    this.#sources = sources
    this.#leave = sources.map((source) => source.subscribe((events) => this.#gather(source.id, events)))
    this.#alive = setInterval(() => this.#write(': alive\n\n'), ALIVE_MS).unref()
  }

  get count(): number {
    return this.#pages.size
  }

  /** @returns false when there are too many pages already */
  open(response: ServerResponse): boolean {
    if (this.#pages.size >= MAX_PAGES) return false
    this.#send()
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
    for (const source of this.#sources) response.write(message('snapshot', source.id, source.title, source.snapshot()))
    this.#pages.add(response)
    response.once('close', () => this.#pages.delete(response))
    return true
  }

  close(): void {
    for (const leave of this.#leave) leave()
    clearInterval(this.#alive)
    clearTimeout(this.#timer)
    for (const page of this.#pages) page.destroy()
  }

  #gather(source: string, events: readonly PageEvent[]): void {
    if (this.#pages.size === 0) return
    const gathered = this.#gathered.get(source) ?? []
    this.#gathered.set(source, gathered)
    for (const event of events) gathered.push(event)
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS).unref()
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const source of this.#sources) {
      const events = this.#gathered.get(source.id)
      if (!events) continue
      this.#gathered.delete(source.id)
      const isFlood = events.length > MAX_GATHERED
      this.#write(
        isFlood
          ? message('snapshot', source.id, source.title, source.snapshot())
          : message('events', source.id, source.title, events),
      )
    }
  }

  /** Made once for all pages. */
  #write(text: string): void {
    for (const page of this.#pages) {
      if (page.writableLength > MAX_UNREAD_BYTES) page.destroy()
      else page.write(text)
    }
  }
}

function message(kind: 'snapshot' | 'events', source: string, title: string, content: unknown): string {
  return `data: ${JSON.stringify({ kind, source, title, content })}\n\n`
}
