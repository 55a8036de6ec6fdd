// Vectors for the meaning of tools and queries, from the vectors of their words. Pure.
import { type Chunk, chunksOf } from '../index/tokenize.ts'
import { type ReadTexts, type SearchDocument } from '../index/fields.ts'
import type { DocumentMeanings } from '../meanings.ts'
import { normalize, VectorTable } from './vector-table.ts'
import type { WordVectors } from './word-vectors.ts'

/** The weight of each part of a tool. */
const NAME = 2
const DESCRIPTION = 1
const SERVER = 0.7
const PARAMETERS = 0.3
/** Number of words of a description that are read: later words are about details. */
const DESCRIPTION_LENGTH = 32
const MAX_PARAMETERS = 40
/** Limit of cached words and names; only a hostile list has more. */
const CACHE_LIMIT = 50_000
/** Marks words without a vector. */
const NOTHING = -1

export class ToolVectors implements DocumentMeanings {
  readonly #words: WordVectors
  /** One vector of length 1 per document. */
  readonly #tools: VectorTable
  /** Vectors of chunks, parameter names and servers, cached because they recur in many tools. */
  readonly #known: VectorTable
  readonly #chunks = new Map<Chunk, number>()
  readonly #parameters = new Map<string, number>()
  readonly #servers = new Map<string, number>()
  readonly #part: Float32Array
  readonly #tool: Float32Array

  constructor(words: WordVectors) {
    const { dimensions } = words
    this.#words = words
    this.#tools = new VectorTable(dimensions)
    this.#known = new VectorTable(dimensions)
    this.#part = new Float32Array(dimensions)
    this.#tool = new Float32Array(dimensions)
  }

  add({ name, parameters, server }: SearchDocument, texts: ReadTexts): void {
    const part = this.#part
    const tool = this.#tool.fill(0)

    part.fill(0)
    this.#addChunks(part, chunksOf(name))
    this.#addChunks(part, texts.title)
    addScaled(tool, part, NAME)

    part.fill(0)
    const { summary, description } = texts
    this.#addChunks(part, summary, DESCRIPTION_LENGTH)
    this.#addChunks(part, description, DESCRIPTION_LENGTH - summary.length)
    addScaled(tool, part, DESCRIPTION)

    part.fill(0)
    this.#known.addTo(part, this.#servers.get(server) ?? this.#keep(this.#servers, server, texts.server))
    addScaled(tool, part, SERVER)

    part.fill(0)
    for (const parameter of parameters.slice(0, MAX_PARAMETERS)) {
      const place = this.#parameters.get(parameter) ?? this.#keep(this.#parameters, parameter, chunksOf(parameter))
      this.#known.addTo(part, place)
    }
    addScaled(tool, part, PARAMETERS)

    normalize(tool)
    this.#tools.push(tool)
  }

  likeness(words: readonly string[]): Float64Array | undefined {
    const wanted = new Float32Array(this.#words.dimensions)
    for (const word of words) {
      const row = this.#words.row(word)
      if (row !== undefined) this.#words.addTo(wanted, row)
    }
    return normalize(wanted) ? this.#tools.products(wanted) : undefined
  }

  #addChunks(sum: Float32Array, chunks: readonly Chunk[], limit = chunks.length): void {
    for (let at = 0; at < chunks.length && at < limit; at += 1) {
      const chunk = chunks[at]!
      this.#known.addTo(sum, this.#chunks.get(chunk) ?? this.#keep(this.#chunks, chunk, [chunk]))
    }
  }

  /** @returns the row that stores the vector of some words */
  #keep<Key>(places: Map<Key, number>, key: Key, chunks: readonly Chunk[]): number {
    if (places.size >= CACHE_LIMIT) return NOTHING
    const rows = chunks.flatMap((chunk) => this.#rowsOf(chunk))
    let place = NOTHING
    if (rows.length > 0) {
      const sum = new Float32Array(this.#words.dimensions)
      for (const row of rows) this.#words.addTo(sum, row)
      place = this.#known.push(sum)
    }
    places.set(key, place)
    return place
  }

  #rowsOf({ tokens, joined }: Chunk): number[] {
    const whole = joined && this.#words.row(joined.word)
    if (whole !== undefined) return [whole]
    return tokens.flatMap(({ word, isStopWord }) => (isStopWord ? [] : (this.#words.row(word) ?? [])))
  }
}

/** Adds a part, normalised so that its length does not count. */
function addScaled(sum: Float32Array, part: Float32Array, weight: number): void {
  if (!normalize(part)) return
  for (let at = 0; at < part.length; at += 1) sum[at]! += part[at]! * weight
}
