// The meaning of single words: one short precomputed vector per word (see NOTICE). Pure.
import { stem } from '../index/tokenize.ts'

/** A list of words, most frequent first, and a vector for each. */
export interface WordVectorData {
  words: readonly string[]
  /** `dimensions` numbers per word. */
  values: Int8Array
  dimensions: number
}

/** How fast a word's weight in a text falls with its frequency (Arora, Liang, Ma, 2017). */
const COMMON = 0.001
const DIGIT_NINE = 57
/** Takes a few milliseconds. */
const STEMS_AT_ONCE = 2_000

export class WordVectors {
  readonly dimensions: number
  readonly #values: Int8Array
  readonly #rows = new Map<string, number>()
  /** For each stem read so far, its most frequent word. */
  readonly #rowsOfStems = new Map<string, number>()
  readonly #words: readonly string[]
  #stemmedCount = 0
  /** Scales each row to length 1. */
  readonly #scales: Float32Array
  readonly #rankFactor: number

  constructor({ words, values, dimensions }: WordVectorData) {
    this.dimensions = dimensions
    this.#words = words
    this.#values = values
    this.#scales = new Float32Array(words.length)
    this.#rankFactor = Math.log(words.length)
    for (const [row, word] of words.entries()) {
      this.#rows.set(word, row)
      let sum = 0
      for (let at = row * dimensions; at < (row + 1) * dimensions; at += 1) sum += values[at]! ** 2
      this.#scales[row] = 1 / (Math.sqrt(sum) || 1)
    }
  }

  /**
   * The row of a word, otherwise of its singular or plural, otherwise of another form; undefined for an unknown word.
   */
  row(word: string): number | undefined {
    const row = this.#rows.get(word)
    if (row !== undefined || word.length < 4 || word.charCodeAt(0) <= DIGIT_NINE) return row
    const other = word.endsWith('s') ? word.slice(0, -1) : `${word}s`
    const found = this.#rows.get(other)
    if (found !== undefined) return found
    while (this.stemAhead());
    return this.#rowsOfStems.get(stem(word))
  }

  /** Stems the next words, which the first unknown word would otherwise wait for. @returns whether any are left */
  stemAhead(): boolean {
    const end = Math.min(this.#words.length, this.#stemmedCount + STEMS_AT_ONCE)
    for (; this.#stemmedCount < end; this.#stemmedCount += 1) {
      const root = stem(this.#words[this.#stemmedCount]!)
      if (!this.#rowsOfStems.has(root)) this.#rowsOfStems.set(root, this.#stemmedCount)
    }
    return end < this.#words.length
  }

  /** Cosine similarity of two words, from -1 to 1. */
  cosine(one: number, other: number): number {
    const values = this.#values
    const { dimensions } = this
    const a = one * dimensions
    const b = other * dimensions
    let sum = 0
    for (let at = 0; at < dimensions; at += 1) sum += values[a + at]! * values[b + at]!
    return sum * this.#scales[one]! * this.#scales[other]!
  }

  /** Adds a word to the vector of a text. Rarer words weigh more. */
  addTo(sum: Float32Array, row: number): void {
    const share = COMMON / (COMMON + 1 / ((row + 1) * this.#rankFactor))
    const scale = share * this.#scales[row]!
    const values = this.#values
    const { dimensions } = this
    const from = row * dimensions
    for (let at = 0; at < dimensions; at += 1) sum[at]! += values[from + at]! * scale
  }
}
