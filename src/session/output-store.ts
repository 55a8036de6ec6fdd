// All that the cells of a session have shown, kept while the session lasts: whole where the model saw a part. Bounded; where the texts lie is the
// business of the bridge's `KeptTexts`, which bounds those of all sessions together.
import { randomUUID } from 'node:crypto'
import { BridgeError } from '../errors.ts'
import type { KeptText, KeptTexts } from './kept-text.ts'
import { CELL_OUTPUT_BYTES, OutputBuffer } from './output-buffer.ts'

/** What one session keeps, compressed. The oldest goes first. */
const SESSION_BYTES = 64 * 1024 * 1024
/** Short texts, too, take memory for as long as their session lasts. */
const MAX_TEXTS = 1_000
/** What one call hands to a cell: as JSON, with all of it escaped, that stays under the longest frame. */
const SLICE_CHARS = 4 * 1024 * 1024

export const OUTPUT_URI_TEMPLATE = 'sandbridge://output/{session}/{cell}'

export class OutputStore {
  /** Unguessable, since it is all that a reader has to know. */
  readonly sessionId: string = randomUUID()
  readonly #texts: KeptTexts
  readonly #limit: number
  /** By cell, oldest first. */
  readonly #kept = new Map<number, KeptText>()
  #size = 0

  constructor(texts: KeptTexts, limit = SESSION_BYTES) {
    this.#texts = texts
    this.#limit = limit
  }

  /** Keep what a cell has shown. Returns the resource it can be read as, or undefined when there is nothing to keep. */
  keep(cell: number, text: string): string | undefined {
    if (text === '') return undefined
    const kept = this.#texts.keep(bounded(text))
    this.#kept.set(cell, kept)
    this.#size += kept.length
    for (const [oldest, { length }] of this.#kept) {
      const isBounded = this.#size <= this.#limit && this.#kept.size <= MAX_TEXTS
      if (isBounded || oldest === cell) break
      this.#drop(oldest, length)
    }
    return this.uriOf(cell)
  }

  /**
   * @param cell its number; missing means the last that has shown anything
   * @throws BridgeError OUTPUT_UNKNOWN
   */
  read(cell: number | undefined): string {
    const wanted = cell ?? [...this.#kept.keys()].at(-1)
    const kept = wanted === undefined ? undefined : this.#kept.get(wanted)
    const text = kept?.read()
    if (text !== undefined) return text
    if (wanted !== undefined && kept) this.#drop(wanted, kept.length)
    const cells = [...this.#kept.keys()]
    const message = wanted === undefined ? 'No cell has output yet' : `No output of cell ${wanted} is kept`
    throw new BridgeError('OUTPUT_UNKNOWN', message, {
      hint:
        cells.length === 0 ? '' : `Kept: cells ${cells.slice(-20).join(', ')}. Run the cell again for other output.`,
    })
  }

  /** A piece of `read` that fits a frame, and where the next starts; undefined at the end. */
  slice(cell: number | undefined, start: number): { text: string; next: number | undefined } {
    const whole = this.read(cell)
    let end = Math.min(start + SLICE_CHARS, whole.length)
    if (end < whole.length && (whole.charCodeAt(end) & 0xfc00) === 0xdc00) end -= 1
    return { text: whole.slice(start, end), next: end < whole.length ? end : undefined }
  }

  uriOf(cell: number): string {
    return OUTPUT_URI_TEMPLATE.replace('{session}', this.sessionId).replace('{cell}', String(cell))
  }

  /** The cell that a URI of this session stands for; undefined for any other URI. */
  cellOf(uri: string): number | undefined {
    const [, session, cell] = /^sandbridge:\/\/output\/([\w-]{1,64})\/(\d{1,9})$/.exec(uri) ?? []
    return session === this.sessionId && cell !== undefined ? Number(cell) : undefined
  }

  clear(): void {
    for (const [cell, { length }] of this.#kept) this.#drop(cell, length)
  }

  #drop(cell: number, length: number): void {
    this.#kept.get(cell)?.drop()
    this.#kept.delete(cell)
    this.#size -= length
  }
}

function bounded(text: string): string {
  if (text.length <= CELL_OUTPUT_BYTES) return text
  const buffer = new OutputBuffer()
  buffer.append(text)
  return buffer.toString()
}
