// One JSON document that several bridges read and change. Validated on read; changes are exclusive.
import { BridgeError, type ErrorCode, messageOf } from '../../errors.ts'
import { fileDocument } from './files/file-document.ts'
import type { Document } from './store.ts'
import { parseJson } from '../json/json.ts'
import { lineCost } from '../json/line-cost.ts'
import { writeFailure } from '../files/file-failure.ts'

export interface DocumentOptions<T> {
  /** A document of a store, or the path of a file that only this machine uses. */
  document: Document | string
  /** The value of a missing document. */
  empty: () => T
  /** Validates the JSON; undefined if it is invalid. */
  parse: (json: unknown) => T | undefined
  /** Converts the value for writing. Missing: it is written as it is. */
  serialize?: (value: T) => unknown
  /** Spaces for each level; none for what only bridges read. */
  indent?: number
  /**
   * How to treat a damaged document. `empty`, for data that can be found out again, treats it as missing. Otherwise an
   * error names the document and says what to do, and the document stays unchanged; with `setAside`, its text counts as
   * missing, and a change keeps a copy of it.
   */
  damaged: 'empty' | { name: string; hint: string; code?: ErrorCode; onDamaged?: () => void; setAside?: SetAside }
}

type SetAside = (text: string) => Promise<void>

export class JsonDocument<T> {
  readonly #options: DocumentOptions<T>
  readonly #document: Document

  constructor(options: DocumentOptions<T>) {
    const { document } = options
    this.#options = options
    this.#document = typeof document === 'string' ? fileDocument(document) : document
  }

  /** @throws BridgeError CONFIG_INVALID, or the chosen code, if it cannot be read or is damaged */
  read(): Promise<T> {
    return this.#parsed(() => this.#document.read())
  }

  /** `read` for callers that cannot wait; undefined where it takes a request. @throws as `read` does */
  readNow(): T | undefined {
    const document = this.#document
    if (!document.readNow) return undefined
    let text: string | undefined
    try {
      text = document.readNow()
    } catch (cause) {
      return this.#unreadable(cause)
    }
    return this.#parse(text)
  }

  /**
   * Reads the document, changes it, and writes it. No other process changes it in between.
   * @param change may be called again with a new value if the database connection was lost
   * @returns the written value
   * @throws BridgeError as `read` does, or if writing fails; the document is then unchanged
   */
  async update(change: (value: T) => void | Promise<void>): Promise<T> {
    const { serialize = (value) => value, indent = 2 } = this.#options
    let written: { value: T } | undefined
    try {
      await this.#document.update(async (read) => {
        const value = await this.#parsed(read, true)
        await change(value)
        written = { value }
        return `${JSON.stringify(serialize(value), undefined, indent)}\n`
      })
    } catch (cause) {
      if (BridgeError.isInstance(cause)) throw cause
      const reason = writeFailure(cause, (code) => code || messageOf(cause))
      throw this.#refusal(`cannot be written: ${reason}. Nothing was changed`, cause, 'Make it writable, then retry.')
    }
    return written!.value
  }

  async #parsed(read: () => Promise<string | undefined>, isChange = false): Promise<T> {
    let text: string | undefined
    try {
      text = await read()
    } catch (cause) {
      return this.#unreadable(cause)
    }
    const { damaged } = this.#options
    const setAside = isChange && damaged !== 'empty' ? damaged.setAside : undefined
    if (setAside && text !== undefined && valueIn(text, this.#options.parse) === undefined) await setAside(text)
    return this.#parse(text)
  }

  #unreadable(cause: unknown): T {
    if (BridgeError.isInstance(cause)) throw cause
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    return this.#damaged(`cannot be read${code}`, cause)
  }

  #parse(text: string | undefined): T {
    const { empty, parse, damaged } = this.#options
    if (text === undefined) return empty()
    const value = valueIn(text, parse)
    if (value !== undefined) return value
    if (damaged === 'empty' || !damaged.setAside)
      return this.#damaged(jsonOf(text) === undefined ? 'cannot be read: not valid JSON' : 'cannot be read: damaged')
    damaged.onDamaged?.()
    return empty()
  }

  #damaged(what: string, cause?: unknown): T {
    if (this.#options.damaged === 'empty') return this.#options.empty()
    throw this.#refusal(what, cause)
  }

  #refusal(what: string, cause: unknown, toDo?: string): BridgeError {
    const { damaged } = this.#options
    const { name, hint, code = 'CONFIG_INVALID' } = damaged === 'empty' ? { name: 'A cache file', hint: '' } : damaged
    return new BridgeError(code, `${name} ${what}. File: ${this.#document.place}`, { hint: toDo ?? hint, cause })
  }
}

/** Undefined for a text that is damaged. */
function valueIn<T>(text: string, parse: (json: unknown) => T | undefined): T | undefined {
  const json = jsonOf(text)
  return json === undefined ? undefined : parse(json)
}

/** Longer texts of brackets keep the loop for seconds. */
const MAX_UNCHECKED_CHARS = 1 << 20

/** Some editors begin a file with a byte order mark. */
const jsonOf = (text: string): unknown =>
  text.length > MAX_UNCHECKED_CHARS && lineCost(Buffer.from(text), Infinity).tooCostly !== undefined
    ? undefined
    : parseJson(text.replace(/^\uFEFF/, ''))
