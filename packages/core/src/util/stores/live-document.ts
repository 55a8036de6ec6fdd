// A document in memory, beside the one that several bridges share. A change counts here at once. Soon it is made in
// the document, too, on top of what others have changed meanwhile, and memory continues with what is there by then.
import { messageOf } from '../../errors.ts'
import type { Log } from '../log.ts'
import { JsonDocument, type DocumentOptions } from './json-document.ts'

const SAVE_DELAY_MS = 2_000
/** Changes that wait to be written. A cell may cause any number: the oldest then stay in memory only. */
const MAX_WAITING = 1_000

/** Applied to each value that it must be made in. @returns whether anything has changed */
export type Change<T> = (value: T) => boolean

export interface LiveDocumentOptions<T> extends DocumentOptions<T> {
  log: Pick<Log, 'warning'>
  /** What is said when it cannot be read or written, once until it can be again. */
  complaint: string
}

export class LiveDocument<T> {
  readonly #options: LiveDocumentOptions<T>
  readonly #document: JsonDocument<T>
  #value: T | undefined
  #waiting: Change<T>[] = []
  #reading: Promise<void> | undefined
  #saving: NodeJS.Timeout | undefined
  /** The write under way; undefined when everything is written. */
  writing: Promise<void> | undefined
  /** The last attempt to read or write it failed. */
  isFailing = false

  constructor(options: LiveDocumentOptions<T>) {
    this.#options = options
    this.#document = new JsonDocument(options)
  }

  /** What is known now; where reading takes a request, nothing before `ready`. */
  get value(): T {
    if (this.#value !== undefined) return this.#value
    try {
      this.#value = this.#document.readNow()
    } catch (error) {
      this.#fail(error)
    }
    return (this.#value ??= this.#options.empty())
  }

  /** Reads the document, once. Never rejects. */
  ready(): Promise<void> {
    return (this.#reading ??= this.reread())
  }

  /** Reads what others have written since. Never rejects. */
  async reread(): Promise<void> {
    await this.writing
    await this.#document.read().then(
      (read) => this.#take(read),
      (error: unknown) => this.#fail(error),
    )
  }

  change(change: Change<T>): void {
    if (!change(this.value)) return
    if (this.#waiting.push(change) > MAX_WAITING) this.#waiting.shift()
    this.#saving ??= setTimeout(() => void this.flush(), SAVE_DELAY_MS).unref()
  }

  /** Writes what is not written yet. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#saving)
    this.#saving = undefined
    const writing = (this.writing ?? Promise.resolve())
      .then(() => this.#write())
      .finally(() => {
        if (this.writing === writing) this.writing = undefined
      })
    return (this.writing = writing)
  }

  async #write(): Promise<void> {
    const changes = this.#waiting
    if (changes.length === 0) return
    this.#waiting = []
    try {
      const written = await this.#document.update((value) => {
        for (const change of changes) change(value)
      })
      this.#take(written)
    } catch (error) {
      // They are made with the next change.
      this.#waiting = [...changes, ...this.#waiting].slice(-MAX_WAITING)
      this.#fail(error)
    }
  }

  #take(value: T): void {
    for (const change of this.#waiting) change(value)
    this.#value = value
    this.isFailing = false
  }

  #fail(error: unknown): void {
    if (!this.isFailing) this.#options.log.warning(this.#options.complaint, { reason: messageOf(error) })
    this.isFailing = true
  }
}
