// The full output of a session's cells while it lasts. `KeptTexts` stores the texts of all sessions.
import { randomUUID } from 'node:crypto'
import { BridgeError } from '../../errors.ts'
import type { KeptText, KeptTexts } from './kept-text.ts'
import { CELL_OUTPUT_BYTES, OutputBuffer } from './output-buffer.ts'

/** Limit per session, compressed. The oldest output is dropped first. */
const SESSION_BYTES = 64 * 1024 * 1024
/** Short texts, too, take memory for as long as their session lasts. */
const MAX_TEXTS = 1_000
/** Most characters that one call returns to a cell. As JSON with every character escaped, they still fit one frame. */
const SLICE_CHARS = 4 * 1024 * 1024

/** Most ranges of cells that an error names. */
const MAX_RANGES = 20

export const OUTPUT_URI_TEMPLATE = 'sandbridge://output/{session}/{cell}'

export class OutputStore {
  /** Unguessable: anyone who knows it can read the output. */
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

  /** Keep a cell's output. @returns the URI of its resource; undefined when the text is empty */
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

  /** @param cell its number; missing: the last cell with output @throws BridgeError OUTPUT_UNKNOWN */
  read(cell: number | undefined): string {
    const wanted = cell ?? [...this.#kept.keys()].at(-1)
    const kept = wanted === undefined ? undefined : this.#kept.get(wanted)
    const text = kept?.read()
    if (text !== undefined) return text
    if (wanted !== undefined && kept) this.#drop(wanted, kept.length)
    const cells = [...this.#kept.keys()]
    const message = wanted === undefined ? 'No cell has output yet' : `The output of cell ${wanted} is not stored`
    throw new BridgeError('OUTPUT_UNKNOWN', message, {
      hint: cells.length === 0 ? '' : `Kept: ${named(cells)}. Run the cell again for other output.`,
    })
  }

  /** Returns a piece of the output that fits a frame, and the start of the next; undefined at the end. */
  slice(cell: number | undefined, start: number): { text: string; next: number | undefined } {
    const whole = this.read(cell)
    let end = Math.min(start + SLICE_CHARS, whole.length)
    if (end < whole.length && (whole.charCodeAt(end) & 0xfc00) === 0xdc00) end -= 1
    return { text: whole.slice(start, end), next: end < whole.length ? end : undefined }
  }

  uriOf(cell: number): string {
    return OUTPUT_URI_TEMPLATE.replace('{session}', this.sessionId).replace('{cell}', String(cell))
  }

  /** Returns the cell of a URI of this session; undefined for any other URI. */
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

/** Names cells as ranges: `cells 1–3, 5`. */
function named(cells: readonly number[]): string {
  const ranges: { first: number; last: number }[] = []
  for (const cell of cells.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range && cell === range.last + 1) range.last = cell
    else ranges.push({ first: cell, last: cell })
  }
  const texts = ranges.slice(-MAX_RANGES).map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`))
  return `${ranges.length > MAX_RANGES ? 'older ones, and ' : ''}cells ${texts.join(', ')}`
}

function bounded(text: string): string {
  if (text.length <= CELL_OUTPUT_BYTES) return text
  const buffer = new OutputBuffer()
  buffer.append(text)
  return buffer.toString()
}
