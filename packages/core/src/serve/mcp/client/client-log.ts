// Sends a run's log lines to its own client: by logging/setLevel in the older era, with each request in the modern one
// (MCP 2025-11-25 and 2026-07-28, Logging). Without a level it sends nothing.
import { LOG_LEVEL_META_KEY, type LoggingLevel, type ServerContext } from '@modelcontextprotocol/server'
import type { OnLine } from '../../../observe/events/run-log.ts'
import { shownText } from '../../../util/text/terminal-text.ts'

const LEVELS = 'debug info notice warning error critical alert emergency'.split(' ')
const MAX_CHARS = 2_000

export class ClientLog {
  #notify: ((level: LoggingLevel, data: Record<string, unknown>) => Promise<void>) | undefined
  #threshold: () => LoggingLevel | undefined = () => undefined
  #sent: Promise<unknown> = Promise.resolve()

  /** Pass this to the log of a run. */
  readonly onLine: OnLine = (level, message, fields) => {
    const threshold = this.#threshold()
    if (!this.#notify || threshold === undefined || LEVELS.indexOf(level) < LEVELS.indexOf(threshold)) return
    const told = Object.entries(fields()).map(([key, value]) => [key, short(value)])
    // A failed send is ignored: a client that is gone cannot receive the result either.
    this.#sent = this.#notify(level, { message, ...Object.fromEntries(told) }).catch(() => {})
  }

  /** Sends lines with this request from now on: a run that is answered in several rounds has several. */
  reportTo({ mcpReq }: ServerContext, connectionLevel: () => LoggingLevel | undefined): void {
    const envelope = mcpReq.envelope as Record<string, LoggingLevel> | undefined
    this.#threshold = envelope ? () => envelope[LOG_LEVEL_META_KEY] : connectionLevel
    this.#notify = (level, data) =>
      mcpReq.notify({ method: 'notifications/message', params: { level, logger: 'sandbridge', data } })
  }

  /** Call before the request is answered: nothing may be sent for it afterwards. */
  async stop(): Promise<void> {
    this.#notify = undefined
    await this.#sent
  }
}

function short(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value).slice(0, MAX_CHARS)
  return typeof value === 'object' ? JSON.stringify(value)?.slice(0, MAX_CHARS) : value
}
