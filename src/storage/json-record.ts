// A record: one JSON document that several bridges read and change. It is validated when it is read, and what changes it is alone with it.
import { BridgeError, type ErrorCode } from '../errors.ts'
import { FileDocument } from './file-document.ts'
import type { Document } from './store.ts'

interface RecordOptions<T> {
  /** Of a store; or the path of a file of this machine alone. */
  document: Document | string
  /** What a missing document holds. */
  empty: () => T
  /** The value that its JSON stands for; undefined when it is not such a record. */
  parse: (json: unknown) => T | undefined
  /** What is written, where it is not the value itself. */
  serialize?: (value: T) => unknown
  /**
   * What a damaged document means: for what can be found out again, the same as a missing one; otherwise an error that names the record
   * and says what to do, and the document is left as it is.
   */
  damaged: 'empty' | { record: string; hint: string; code?: ErrorCode }
}

export class JsonRecord<T> {
  readonly #options: RecordOptions<T>
  readonly #document: Document

  constructor(options: RecordOptions<T>) {
    const { document } = options
    this.#options = options
    this.#document = typeof document === 'string' ? new FileDocument(document) : document
  }

  /** @throws BridgeError CONFIG_INVALID, or the code that was chosen, when it cannot be read or is damaged */
  read(): Promise<T> {
    return this.#parsed(() => this.#document.read())
  }

  /**
   * Reads the record, has it changed, and writes it. No other process changes it in between.
   * @param change may be called again, on a new value, when the database was lost on the way
   * @returns the value that was written
   * @throws BridgeError as `read` does, or when it cannot be written; the document is then as it was
   */
  async update(change: (value: T) => void | Promise<void>): Promise<T> {
    const { serialize = (value) => value } = this.#options
    let written: { value: T } | undefined
    try {
      await this.#document.update(async (read) => {
        const value = await this.#parsed(read)
        await change(value)
        written = { value }
        return `${JSON.stringify(serialize(value), undefined, 2)}\n`
      })
    } catch (cause) {
      if (BridgeError.isInstance(cause)) throw cause
      throw this.#refusal('cannot be written', cause)
    }
    return written!.value
  }

  async #parsed(read: () => Promise<string | undefined>): Promise<T> {
    const { empty, parse } = this.#options
    let text: string | undefined
    try {
      text = await read()
    } catch (cause) {
      if (BridgeError.isInstance(cause)) throw cause
      return this.#damaged('cannot be read', cause)
    }
    if (text === undefined) return empty()
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch (cause) {
      return this.#damaged('cannot be read: not valid JSON', cause)
    }
    return parse(json) ?? this.#damaged('cannot be read: damaged')
  }

  #damaged(what: string, cause?: unknown): T {
    if (this.#options.damaged === 'empty') return this.#options.empty()
    throw this.#refusal(what, cause)
  }

  #refusal(what: string, cause: unknown): BridgeError {
    const { damaged } = this.#options
    const {
      record,
      hint,
      code = 'CONFIG_INVALID',
    } = damaged === 'empty' ? { record: 'A cache file', hint: '' } : damaged
    // Of a parser's error nothing is told: it quotes the file.
    const errno = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    return new BridgeError(code, `${record} ${what}${errno}. File: ${this.#document.place}`, { hint, cause })
  }
}
