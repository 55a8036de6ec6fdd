// Finds tools by words. Field-weighted term scores (after BM25F: Robertson, Zaragoza, "The Probabilistic Relevance Framework", 2009)
// over stems, where every word or phrase of the query is a concept that can be said in several ways.
// The same documents and the same query give the same answer, in whatever order the documents came. Pure.
import { Postings, type Posting, type SearchDocument } from './postings.ts'
import { byCodeUnit, foldName } from '../signature/python-name.ts'
import { QueryReader } from './query-concepts.ts'
import { Thesaurus, type Alternative } from './thesaurus.ts'

export interface Hit<T> {
  item: T
  score: number
}

const SATURATION = 3
/** How much a second way to say the same adds to the best one. */
const OTHER_WAYS = 0.2

/** The weight of one concept in every document, and which have any. */
interface Best {
  weights: Float64Array
  documents: number[]
}

export class SearchIndex<T> {
  readonly #postings: Postings
  readonly #reader: QueryReader
  readonly #items: T[] = []
  readonly #documents: Pick<SearchDocument, 'server' | 'name' | 'safety'>[] = []
  /** Folded names, for queries that are a name. */
  readonly #folded: string[] = []

  constructor(thesaurus: Thesaurus = new Thesaurus()) {
    this.#postings = new Postings(thesaurus.words)
    this.#reader = new QueryReader(this.#postings, thesaurus)
  }

  add(item: T, document: SearchDocument): void {
    const id = this.#items.push(item) - 1
    // The texts are not kept: of ten thousand tools they would be most of the memory.
    const { server, name, safety } = document
    this.#documents.push({ server, name, safety })
    this.#folded.push(foldName(name))
    this.#postings.add(id, document)
  }

  /**
   * The best `limit` items, best first; never none while there are any.
   * One server gets at most all but one of the places when another has something to offer.
   * @param accepts which items count at all
   */
  search(query: string, limit: number, accepts: (item: T) => boolean = () => true): Hit<T>[] {
    return this.#search(query, limit, accepts, true)
  }

  /** As `search`, without those that have nothing to do with the query. */
  matches(query: string, limit: number, accepts: (item: T) => boolean): Hit<T>[] {
    return this.#search(query, limit, accepts, false)
  }

  #search(query: string, limit: number, accepts: (item: T) => boolean, neverNone: boolean): Hit<T>[] {
    const scores = this.#score(query)
    for (const [id, item] of this.#items.entries()) {
      if (scores[id]! > 0) scores[id] = accepts(item) ? scores[id]! * (1 + 0.02 * this.#documents[id]!.safety) : 0
    }
    let found = this.#top(scores, limit)
    if (found.length === 0 && neverNone) found = this.#anything(query, accepts)
    found.sort((a, b) => b.score - a.score || this.#compare(a.id, b.id))
    return this.#spread(found, limit).map(({ id, score }) => ({ item: this.#items[id]!, score }))
  }

  /** A score for every document. */
  #score(query: string): Float64Array {
    const count = this.#items.length
    const scores = new Float64Array(count)
    const covered = new Float64Array(count)
    let total = 0
    for (const concept of this.#reader.concepts(query)) {
      const best: Best = { weights: new Float64Array(count), documents: [] }
      for (const way of concept.ways) this.#collect(way, best)
      const own = concept.own === undefined ? undefined : this.#postings.get(concept.own)
      const common = best.documents.length
      const rarity = this.#rarity(own === undefined ? common : Math.max(own.documents.length, common / 3))
      total += rarity
      for (const id of best.documents) {
        const weight = best.weights[id]!
        const strength = weight / (SATURATION + weight)
        scores[id]! += rarity * strength
        covered[id]! += rarity * Math.min(1, strength * 2)
      }
    }
    for (let id = 0; id < count; id += 1) scores[id]! *= 0.5 + (0.5 * covered[id]!) / (total || 1)
    const folded = foldName(query)
    if (folded !== '') for (const [id, name] of this.#folded.entries()) if (name === folded) scores[id]! += 100
    return scores
  }

  /** The documents that can be among the best `limit`, and the best one of every server. In no order. */
  #top(scores: Float64Array, limit: number): { id: number; score: number }[] {
    const found = scores.filter((score) => score > 0).toSorted()
    const least = found[Math.max(0, found.length - limit * 4)] ?? 0
    const best = new Map<string, number>()
    const ids = new Set<number>()
    for (let id = 0; id < scores.length; id += 1) {
      const score = scores[id]!
      if (score <= 0) continue
      if (score >= least) ids.add(id)
      const { server } = this.#documents[id]!
      const before = best.get(server)
      if (
        before === undefined ||
        score > scores[before]! ||
        (score === scores[before]! && this.#compare(id, before) < 0)
      ) {
        best.set(server, id)
      }
    }
    for (const id of best.values()) ids.add(id)
    return [...ids].map((id) => ({ id, score: scores[id]! }))
  }

  /** For each document, the best of a concept's ways; all terms of a way must be in the document. */
  #collect(way: Alternative, best: Best): void {
    const postings: Posting[] = []
    for (const term of way.terms) {
      const posting = this.#postings.get(term)
      if (posting === undefined) return
      postings.push(posting)
    }
    const [first, ...others] = postings
    if (first === undefined) return
    if (others.length === 0) {
      for (const [index, id] of first.documents.entries()) raise(best, id, first.weights[index]! * way.weight)
      return
    }
    const least = new Map<number, number>()
    for (const [index, id] of first.documents.entries()) least.set(id, first.weights[index]!)
    for (const posting of others) {
      const both = new Set<number>()
      for (const [index, id] of posting.documents.entries()) {
        const before = least.get(id)
        if (before === undefined) continue
        least.set(id, Math.min(before, posting.weights[index]!))
        both.add(id)
      }
      for (const id of least.keys()) if (!both.has(id)) least.delete(id)
    }
    for (const [id, weight] of least) raise(best, id, weight * way.weight)
  }

  #rarity(documentCount: number): number {
    return Math.log(1 + this.#items.length / (documentCount + 0.5))
  }

  /** When no word fits: the names that look most like the query, else simply tools, the safe ones first. */
  #anything(query: string, accepts: (item: T) => boolean): { id: number; score: number }[] {
    const wanted = pairsOf(foldName(query).slice(0, 200))
    const found: { id: number; score: number }[] = []
    for (const [id, name] of this.#folded.entries()) {
      if (!accepts(this.#items[id]!)) continue
      const pairs = pairsOf(name)
      let common = 0
      for (const pair of pairs) if (wanted.has(pair)) common += 1
      found.push({
        id,
        score: (2 * common) / (pairs.size + wanted.size || 1) + 0.001 * (1 + this.#documents[id]!.safety),
      })
    }
    return found
  }

  #spread(found: { id: number; score: number }[], limit: number): { id: number; score: number }[] {
    const most = Math.max(1, limit - 1)
    const counts = new Map<string, number>()
    const chosen: typeof found = []
    const passedOver: typeof found = []
    for (const hit of found) {
      if (chosen.length >= limit) break
      const { server } = this.#documents[hit.id]!
      const count = counts.get(server) ?? 0
      if (count >= most && limit > 1) {
        passedOver.push(hit)
        continue
      }
      counts.set(server, count + 1)
      chosen.push(hit)
    }
    return [...chosen, ...passedOver.slice(0, limit - chosen.length)]
  }

  #compare(a: number, b: number): number {
    const [one, other] = [this.#documents[a]!, this.#documents[b]!]
    return other.safety - one.safety || byCodeUnit(one.server, other.server) || byCodeUnit(one.name, other.name)
  }
}

/** The best way counts, and the others a little. */
function raise(best: Best, id: number, weight: number): void {
  const before = best.weights[id]!
  if (before === 0) best.documents.push(id)
  best.weights[id] = Math.max(before, weight) + Math.min(before, weight) * OTHER_WAYS
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>()
  for (let at = 0; at < text.length - 1; at += 1) pairs.add(text.slice(at, at + 2))
  return pairs
}
