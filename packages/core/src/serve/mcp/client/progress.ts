// Reports a cell's progress to a client that asked for it: at most a few notifications a second, and one every 12 s
// when nothing happens: many clients cancel after 60 s without a message. (MCP 2025-11-25, Progress)
import type { ServerContext } from '@modelcontextprotocol/server'
import { describeUpstreamProgress, type UpstreamProgress } from '../../../cell/tool-calls.ts'
import type { CellListeners } from '../../../cell/session/cell-run.ts'
import { shortNumber } from '../../../util/text/count.ts'
import { fromOthers } from '../../../cell/render/notice.ts'

const INTERVAL_MS = 100
const HEARTBEAT_MS = 12_000
/** Output since the last notification: its last lines, up to this many characters. */
const MAX_CHARS = 1_000
/** The value must rise with each notification. This step is too small to show beside the cell's own numbers. */
const STEP = 0.001

export class ProgressReporter {
  #send: ((notification: { progress: number; total?: number; message?: string }) => Promise<void>) | undefined
  #token: string | number | undefined
  #timer: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined
  readonly #openedAt = performance.now()
  #value = 0
  #done: number | undefined
  #total: number | undefined
  /** Printed since the last notification. */
  #printed = ''
  /** What the cell is doing, when it prints nothing. */
  #state: string | undefined

  /** What to run the cell with. Servers are asked for progress only when the client wants it. */
  get listeners() {
    const onUpstreamProgress = this.#send && this.#onUpstreamProgress
    return { ...this.#cellListeners, onUpstreamProgress } satisfies CellListeners
  }

  readonly #cellListeners = {
    onPreparing: (message: string) => {
      this.#state = message
      this.#schedule()
    },
    onOutput: (_stream: 'stdout' | 'stderr', text: string) => {
      this.#printed = (this.#printed + text.slice(-2 * MAX_CHARS)).slice(-2 * MAX_CHARS)
      this.#schedule()
    },
    onProgress: ({ done, total, message }) => {
      this.#done = done
      this.#total = total
      this.#state = message ?? [done, ...(total === undefined ? [] : [total])].map(shortNumber).join(' of ')
      this.#schedule()
    },
    onToolCall: ({ name, number, total }) => {
      this.#state = `calling ${name} (${number} of ${total})`
      this.#schedule()
    },
  } satisfies CellListeners

  readonly #onUpstreamProgress = (progress: UpstreamProgress): void => {
    this.#state = describeUpstreamProgress(progress)
    this.#schedule()
  }

  /** Reports to this request from now on. A call that is answered in several rounds has several requests. */
  reportTo({ mcpReq }: ServerContext): void {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken === undefined) {
      this.#send = undefined
      clearTimeout(this.#heartbeat)
      return
    }
    if (progressToken !== this.#token) this.#value = 0
    this.#token = progressToken
    this.#send = (notification) =>
      // A failed send is ignored: a client that is gone cannot receive the result either.
      mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...notification } }).catch(() => {})
    this.#beatLater()
  }

  /** Call before the request is answered: nothing may be sent for it afterwards. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#send && this.#hasNews()) await this.#tell()
    clearTimeout(this.#heartbeat)
    this.#timer = undefined
    this.#send = undefined
  }

  /** How long the call has been open. */
  get ageMs(): number {
    return performance.now() - this.#openedAt
  }

  /** The last lines that were printed since the client last heard of the cell. */
  takePrinted(): string {
    const printed = lastLines(this.#printed)
    this.#printed = ''
    return printed
  }

  /** What has happened since the client last heard of the cell; empty when nothing has. */
  takeNews(): string {
    const news = [this.takePrinted(), this.#state && fromOthers(this.#state).slice(0, MAX_CHARS)].filter(Boolean)
    this.#state = undefined
    return news.join('\n')
  }

  #beatLater(): void {
    clearTimeout(this.#heartbeat)
    this.#heartbeat = setTimeout(() => {
      this.#state = `Running for ${Math.round(this.ageMs / 1000)} s`
      this.#schedule()
    }, HEARTBEAT_MS)
  }

  #schedule(): void {
    if (!this.#send || this.#timer) return
    void this.#tell()
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#hasNews()) this.#schedule()
    }, INTERVAL_MS)
  }

  #hasNews(): boolean {
    return this.#printed !== '' || this.#state !== undefined
  }

  async #tell(): Promise<void> {
    this.#beatLater()
    const message = this.takeNews()
    this.#value = this.#done !== undefined && this.#done > this.#value ? this.#done : nextAfter(this.#value)
    const total = this.#total !== undefined && this.#total >= this.#value ? this.#total : undefined
    await this.#send?.({ progress: this.#value, ...(total !== undefined && { total }), ...(message && { message }) })
  }
}

/** A slightly larger value without floating-point noise: 5.002 and not 5.002000000000001. */
function nextAfter(value: number): number {
  const rounded = Number((value + STEP).toFixed(3))
  return rounded > value ? rounded : value + STEP
}

/** The last lines of a text; of a progress bar, its last state. */
function lastLines(text: string): string {
  const lines = fromOthers(text).trim()
  if (lines.length <= MAX_CHARS) return lines
  const end = lines.slice(-MAX_CHARS)
  return end.slice(end.indexOf('\n') + 1)
}
