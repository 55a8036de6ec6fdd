// Finds words of the catalog that mean nearly the same as a word of a query, by their vectors. Pure.
import type { Alternative, Neighbours } from '../meanings.ts'
import type { Postings } from '../index/postings.ts'
import { byCodeUnit } from '@sandbridge/core/util/text'
import type { WordVectors } from './word-vectors.ts'

const MOST = 8
const LEAST_COSINE = 0.52
const WEIGHT = 0.6
const CACHE_LIMIT = 2000

export class WordNeighbours implements Neighbours {
  readonly #postings: Postings
  readonly #vectors: WordVectors
  /** Terms of the catalog that have a vector, as far as they have been read. */
  readonly #terms: string[] = []
  readonly #rows: number[] = []
  #read = 0
  #version = 0
  readonly #cache = new Map<number, Alternative[]>()

  constructor(postings: Postings, vectors: WordVectors) {
    this.#postings = postings
    this.#vectors = vectors
  }

  of(word: string, term: string): Alternative[] | undefined {
    const row = this.#vectors.row(word)
    if (row === undefined) return undefined
    this.#readNew()
    let found = this.#cache.get(row)
    if (found === undefined) {
      if (this.#cache.size >= CACHE_LIMIT) this.#cache.clear()
      this.#cache.set(row, (found = this.#find(row, term)))
    }
    return found
  }

  #find(row: number, term: string): Alternative[] {
    const near: { term: string; cosine: number }[] = []
    for (const [index, other] of this.#terms.entries()) {
      if (other === term) continue
      const cosine = this.#vectors.cosine(row, this.#rows[index]!)
      if (cosine >= LEAST_COSINE) near.push({ term: other, cosine })
    }
    near.sort((a, b) => b.cosine - a.cosine || byCodeUnit(a.term, b.term))
    return near.slice(0, MOST).map(({ term: other, cosine }) => ({ term: other, weight: WEIGHT * cosine }))
  }

  /** Terms are only appended, so only new ones are read. */
  #readNew(): void {
    if (this.#version === this.#postings.version) return
    this.#version = this.#postings.version
    let position = 0
    for (const [term, { word }] of this.#postings.entries()) {
      position += 1
      if (position <= this.#read) continue
      const row = this.#vectors.row(word)
      if (row === undefined) continue
      this.#terms.push(term)
      this.#rows.push(row)
    }
    this.#read = position
    this.#cache.clear()
  }
}
