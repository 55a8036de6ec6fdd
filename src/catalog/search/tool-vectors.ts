// The meaning of whole tools and of whole queries, from that of their words. Pure.
import type { ReadTexts, SearchDocument } from './fields.ts'
import { chunkOf, chunks, type Chunk } from './tokenize.ts'
import type { WordVectors } from './word-vectors.ts'

/** How much each part of a tool says about its meaning. */
const NAME = 2
const DESCRIPTION = 1
const SERVER = 0.7
const PARAMETERS = 0.3
/** Words of a description that are read: what follows is about details. */
const DESCRIPTION_LENGTH = 32
const MAX_PARAMETERS = 40
const GROWTH = 1.5
const CACHE_LIMIT = 50_000

export class ToolVectors {
  readonly #words: WordVectors
  /** One vector of length 1 a document. */
  #all: Float32Array
  #count = 0
  readonly #part: Float32Array
  readonly #rows = new Map<Chunk, readonly number[]>()
  readonly #rowsOfNames = new Map<string, readonly number[]>()

  constructor(words: WordVectors) {
    this.#words = words
    this.#all = new Float32Array(64 * words.dimensions)
    this.#part = new Float32Array(words.dimensions)
  }

  /** Of the next document. */
  add({ name, parameters }: SearchDocument, { title, summary, description, server }: ReadTexts): void {
    const { dimensions } = this.#words
    const from = this.#count * dimensions
    if (from + dimensions > this.#all.length) {
      const larger = new Float32Array(Math.ceil(this.#all.length * GROWTH))
      larger.set(this.#all)
      this.#all = larger
    }
    this.#count += 1
    const vector = this.#all.subarray(from, from + dimensions)
    const rest = summary.length < DESCRIPTION_LENGTH ? description.slice(0, DESCRIPTION_LENGTH - summary.length) : []
    this.#addPart(vector, [this.#rowsOfName(name), ...this.#rowsOf(title)], NAME)
    this.#addPart(vector, [...this.#rowsOf(summary.slice(0, DESCRIPTION_LENGTH)), ...this.#rowsOf(rest)], DESCRIPTION)
    this.#addPart(vector, this.#rowsOf(server), SERVER)
    const named = parameters.slice(0, MAX_PARAMETERS).map((parameter) => this.#rowsOfName(parameter))
    this.#addPart(vector, named, PARAMETERS)
    normalize(vector)
  }

  /** How alike the words and each document are, from 0 to 1, by the document's number; undefined when no word is known. */
  likeness(words: readonly string[]): Float64Array | undefined {
    const { dimensions } = this.#words
    const wanted = new Float32Array(dimensions)
    for (const word of words) {
      const row = this.#words.row(word)
      if (row !== undefined) this.#words.addTo(wanted, row)
    }
    if (!normalize(wanted)) return undefined
    const all = this.#all
    const likeness = new Float64Array(this.#count)
    for (let document = 0, from = 0; document < likeness.length; document += 1, from += dimensions) {
      let sum = 0
      for (let at = 0; at < dimensions; at += 1) sum += wanted[at]! * all[from + at]!
      likeness[document] = Math.max(0, sum)
    }
    return likeness
  }

  #addPart(vector: Float32Array, rows: readonly (readonly number[])[], weight: number): void {
    const part = this.#part.fill(0)
    for (const some of rows) for (const row of some) this.#words.addTo(part, row)
    if (!normalize(part)) return
    for (let at = 0; at < part.length; at += 1) vector[at]! += part[at]! * weight
  }

  #rowsOf(text: readonly Chunk[]): (readonly number[])[] {
    return text.map((chunk) => this.#rowsOfChunk(chunk))
  }

  /** Cached, as the parameters of most tools are called the same. */
  #rowsOfName(name: string): readonly number[] {
    const known = this.#rowsOfNames.get(name)
    if (known !== undefined) return known
    const rows = this.#rowsOf(chunks(name).map(chunkOf)).flat()
    if (this.#rowsOfNames.size < CACHE_LIMIT) this.#rowsOfNames.set(name, rows)
    return rows
  }

  #rowsOfChunk(chunk: Chunk): readonly number[] {
    const known = this.#rows.get(chunk)
    if (known !== undefined) return known
    const whole = chunk.joined && this.#words.row(chunk.joined.word)
    const parts = chunk.tokens.flatMap(({ word, isStopWord }) => (isStopWord ? [] : (this.#words.row(word) ?? [])))
    const rows = whole === undefined ? parts : [whole]
    if (this.#rows.size < CACHE_LIMIT) this.#rows.set(chunk, rows)
    return rows
  }
}

/** To length 1; false when there is nothing. */
function normalize(vector: Float32Array): boolean {
  let sum = 0
  for (let at = 0; at < vector.length; at += 1) sum += vector[at]! ** 2
  if (sum === 0) return false
  const scale = 1 / Math.sqrt(sum)
  for (let at = 0; at < vector.length; at += 1) vector[at]! *= scale
  return true
}
