// A server's tool list in memory: read once, shared by callers, read again after an announced change.
import type { Connection } from '../connection/connection.ts'
import type { ToolChanges } from '../upstream.ts'
import type { ToolList } from './tool-list.ts'

/** Changes come in bursts: the list is read again this long after the first announcement. */
const RELIST_DELAY_MS = 200
/** Some servers announce a change with every listing: while unused, each delay is twice the last, up to this. */
const MAX_RELIST_DELAY_MS = 60_000

export interface ToolCacheOptions {
  onList: (list: ToolList) => void
  /** The changed list could not be read; the next listing retries. */
  onError: (error: unknown) => void
}

export class ToolCache {
  readonly #options: ToolCacheOptions
  #connection: Connection | undefined
  #list: ToolList | undefined
  #listing: Promise<ToolList> | undefined
  #version = 0
  /** Listings begun so far; the number of the one that was reported last. */
  #begunCount = 0
  #reported = 0
  /** What the server has said of changes of its tools, since its start. */
  changes: ToolChanges = 'none'
  #timer: NodeJS.Timeout | undefined
  #delayMs = RELIST_DELAY_MS

  constructor(options: ToolCacheOptions) {
    this.#options = options
  }

  /** Clears the cache: its content belongs to one connection. */
  reset(): void {
    this.#version += 1
    this.changes = 'none'
    this.#connection = undefined
    this.#list = undefined
    this.#listing = undefined
    this.#delayMs = RELIST_DELAY_MS
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** An announced change is read soon: something uses the server. */
  hurry(): void {
    if (this.#delayMs === RELIST_DELAY_MS) return
    this.#delayMs = RELIST_DELAY_MS
    if (!this.#timer) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#readSoon()
  }

  /** The server has been asked, and has not answered yet. */
  get isReading(): boolean {
    return this.#listing !== undefined
  }

  /** The cached list of a connection, if it is current. */
  known(connection: Connection): ToolList | undefined {
    return this.#connection === connection ? this.#list : undefined
  }

  /**
   * Callers share one listing, which none of them can cancel.
   * @param again asks the server, also if it has announced no change
   * @throws BridgeError
   */
  list(connection: Connection, again = false): Promise<ToolList> {
    if (this.#connection !== connection) {
      this.reset()
      this.#connection = connection
    }
    if (this.#list && !again) return Promise.resolve(this.#list)
    this.hurry()
    return this.#listed(connection)
  }

  #listed(connection: Connection): Promise<ToolList> {
    this.#listing ??= this.#read(connection)
    return this.#listing
  }

  changed(): void {
    this.changes = 'unread'
    this.#version += 1
    this.#list = undefined
    this.#listing = undefined
    this.#readSoon()
  }

  #readSoon(): void {
    const connection = this.#connection
    // Not postponed by another change: a server that announces one all the time would never be read.
    if (!connection || this.#timer) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      // It may have been read meanwhile.
      if (!this.#list) this.#readAgain(connection).catch(this.#options.onError)
    }, this.#delayMs).unref()
  }

  async #readAgain(connection: Connection): Promise<void> {
    try {
      await this.#listed(connection)
    } finally {
      if (this.#connection === connection) this.#delayMs = Math.min(2 * this.#delayMs, MAX_RELIST_DELAY_MS)
    }
  }

  async #read(connection: Connection): Promise<ToolList> {
    const version = this.#version
    const number = ++this.#begunCount
    try {
      const list = await connection.listTools()
      // After a change meanwhile, this list is outdated: it may be returned but not cached.
      if (version === this.#version) {
        this.#list = list
        if (this.changes === 'unread') this.changes = 'read'
      }
      // A slow response must not replace a newer list; one that is merely outdated is reported.
      if (number > this.#reported) {
        this.#reported = number
        this.#options.onList(list)
      }
      return list
    } finally {
      if (version === this.#version) this.#listing = undefined
    }
  }
}
