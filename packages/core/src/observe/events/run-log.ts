// The log of one run and its calls. Every line names the run and, on request, also goes to the run's client.
import { BridgeError, isUnexpected, messageOf } from '../../errors.ts'
import type { Log, LogLevel } from '../../util/log.ts'
import { shortId } from './new-id.ts'

type Fields = Record<string, unknown>

/** Receives each line. @param fields computes what the client may see; slow: it searches for personal data */
export type OnLine = (level: LogLevel, message: string, fields: () => Fields) => void

/** Limit per level: a cell can make any number of failing calls. */
const MAX_LINES_PER_SECOND = 100

export class RunLog implements Log {
  readonly run: string
  /** Masks personal data in text that is sent to the client. */
  mask: ((text: string) => string) | undefined
  readonly debug = this.#at('debug')
  readonly info = this.#at('info')
  readonly warning = this.#at('warning')
  readonly error = this.#at('error')
  readonly #log: Log
  readonly #onLine: OnLine | undefined
  readonly #told = new WeakSet<object>()

  /** @param run id of the client's run; where a person runs the cell, id of the cell */
  constructor(log: Log, run: string, onLine?: OnLine) {
    this.#log = log
    this.run = run
    this.#onLine = onLine
  }

  /** Logs a warning. `own` is for the user's log only, such as a link that grants access. */
  warnUser(message: string, fields: Fields, own: Fields): void {
    this.#write('warning', message, fields, own)
  }

  /**
   * Log, once, a failure that a person may have to investigate.
   * @returns where the reader finds more about it; undefined if the error itself says everything
   */
  failure(message: string, error: unknown, fields: Fields = {}): string | undefined {
    if (!isUnexpected(error)) return undefined
    const isNew = typeof error !== 'object' || error === null || !this.#told.has(error)
    if (isNew && typeof error === 'object' && error !== null) this.#told.add(error)
    if (isNew && BridgeError.isInstance(error)) this.warning(message, { ...fields, code: error.code, error })
    else if (isNew) this.error(message, { ...fields, error })
    return `More: \`sandbridge log ${shortId(this.run)}\`.`
  }

  #at(level: LogLevel) {
    let second = 0
    let lines = 0
    return (message: string, fields: Fields = {}): void => {
      const now = Math.floor(performance.now() / 1000)
      if (now !== second) lines = 0
      second = now
      lines += 1
      if (lines <= MAX_LINES_PER_SECOND) this.#write(level, message, fields)
      else if (lines === MAX_LINES_PER_SECOND + 1) this.#write(level, 'More lines of this second are left out', {})
    }
  }

  #write(level: LogLevel, message: string, fields: Fields, own: Fields = {}): void {
    const named = { run: shortId(this.run), ...fields }
    this.#log[level](message, { ...named, ...own })
    this.#onLine?.(level, message, () => ({ run: named.run, ...this.#forClient(fields) }))
  }

  #forClient(fields: Fields): Fields {
    const told = Object.entries(fields).map(([key, value]): [string, unknown] => {
      const text = value instanceof Error ? messageOf(value) : value
      return [key, typeof text === 'string' && key !== 'call' ? (this.mask?.(text) ?? text) : text]
    })
    return Object.fromEntries(told)
  }
}
