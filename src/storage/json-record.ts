// A record on disk: one JSON file that several bridges read and change. It is validated when it is read, changed under a lock, and replaced
// whole, so that a crash or another bridge never leaves half of it.
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError, type ErrorCode } from '../errors.ts'
import { withFileLock } from './file-lock.ts'
import { replaceFile } from './replace-file.ts'

interface RecordOptions<T> {
  file: string
  /** What a missing file holds. */
  empty: () => T
  /** The value that the file's JSON stands for; undefined when it is not such a record. */
  parse: (json: unknown) => T | undefined
  /** What is written, where it is not the value itself. */
  serialize?: (value: T) => unknown
  /**
   * What a damaged file means: for what can be found out again, the same as a missing one; otherwise an error that names the record
   * and says what to do, and the file is left as it is.
   */
  damaged: 'empty' | { record: string; hint: string; code?: ErrorCode }
}

export class JsonRecord<T> {
  readonly #options: RecordOptions<T>

  constructor(options: RecordOptions<T>) {
    this.#options = options
  }

  /** @throws BridgeError CONFIG_INVALID, or the code that was chosen, when it cannot be read or is damaged */
  async read(): Promise<T> {
    const { file, empty, parse } = this.#options
    let text: string
    try {
      text = await readFile(file, 'utf8')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return empty()
      return this.#damaged('cannot be read', cause)
    }
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch (cause) {
      return this.#damaged('cannot be read: not valid JSON', cause)
    }
    return parse(json) ?? this.#damaged('cannot be read: damaged')
  }

  /**
   * Reads the record, has it changed, and writes it. No other process changes it in between.
   * @returns the value that was written
   * @throws BridgeError as `read` does, or when it cannot be written; the file is then as it was
   */
  async update(change: (value: T) => void | Promise<void>): Promise<T> {
    const { file, serialize = (value) => value } = this.#options
    try {
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      return await withFileLock(`${file}.lock`, async () => {
        const value = await this.read()
        await change(value)
        await replaceFile(file, `${JSON.stringify(serialize(value), undefined, 2)}\n`)
        return value
      })
    } catch (cause) {
      if (BridgeError.isInstance(cause)) throw cause
      throw this.#refusal('cannot be written', cause)
    }
  }

  #damaged(what: string, cause?: unknown): T {
    if (this.#options.damaged === 'empty') return this.#options.empty()
    throw this.#refusal(what, cause)
  }

  #refusal(what: string, cause: unknown): BridgeError {
    const { file, damaged } = this.#options
    const {
      record,
      hint,
      code = 'CONFIG_INVALID',
    } = damaged === 'empty' ? { record: 'A cache file', hint: '' } : damaged
    // Of a parser's error nothing is told: it quotes the file.
    const errno = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    return new BridgeError(code, `${record} ${what}${errno}. File: ${file}`, { hint, cause })
  }
}
