// Finds tools by words. Field-weighted term scores (after BM25F: Robertson, Zaragoza, "The Probabilistic Relevance
// Framework", 2009) over stems. Every word of the query is a concept with several alternatives. The result
// depends only on the documents and the query, not on the order in which documents were added. Pure.
import { readTexts, type SearchDocument } from './fields.ts'
import { Postings } from './postings.ts'
import { byCodeUnit, foldName } from '../../../util/text/python-name.ts'
import { QueryReader, type Concept } from './query-concepts.ts'
import { ToolVectors } from './tool-vectors.ts'
import { fitOf, GUESSED, isSaid, isWeak, weightInFit } from './weak-answer.ts'
import { WordNeighbours, type Alternative } from './word-neighbours.ts'
import type { WordVectors } from './word-vectors.ts'

export interface Hit<T> {
  item: T
  score: number
}

/** Similarity of a query and an item in meaning, from another source: from 0 to 1. */
export type Likeness<T> = (item: T) => number

/** The parts of an item's score. */
export interface Reason {
  score: number
  /** How well the words match, from 0 to 1. */
  words: number
  /** Added for similarity in meaning. */
  meaning: number
  /** The query is the item's name. */
  isNamed: boolean
  isDeprecated: boolean
  /** The concepts of the query, with the matching term of the item, if any. */
  concepts: { asked: string; found: string | undefined; strength: number }[]
}

const SATURATION = 2
/** How much a second matching alternative adds to the best one. */
const OTHER_WAYS = 0.2
/** The share of the score that depends on how much of the query the tool matches. */
const COVERAGE = 0.4
/** How much similarity in meaning adds to the score of the words, which is at most 1. */
const WORDS_MEANING = 0.3
const GIVEN_MEANING = 0.5
/** Below this similarity, a tool without a common word is not found. */
const LEAST_MEANING = 0.09
/** Added when the query is the tool's name: more than everything else together. */
const EXACT_NAME = 10
const SAFE = 0.02
const DEPRECATED = 0.9

/** The weight of one concept in every document, and the documents where it is not 0. */
interface Best {
  weights: Float64Array
  documents: number[]
}

/** The scores of one query for every document. */
interface Scores<T> {
  query: string
  given: Likeness<T> | undefined
  scores: Float64Array
  /** The score of the words alone. */
  byWords: Float64Array
  /** How well each document fits, whatever the others; undefined when that cannot be judged. */
  fits: Float64Array | undefined
  /** The share of the query's weight that the document has in the query's own words. */
  spoken: Float64Array
}

export class SearchIndex<T> {
  readonly #postings = new Postings()
  readonly #reader: QueryReader
  readonly #items: T[] = []
  readonly #documents: Pick<SearchDocument, 'server' | 'name' | 'safety' | 'isDeprecated'>[] = []
  /** Folded names, for queries that are a name. */
  readonly #folded: string[] = []
  readonly #meanings: ToolVectors | undefined
  /** Cached: a search reads the scores of its query several times. */
  #last: Scores<T> | undefined

  /** @param vectors without them, only words are compared */
  constructor(vectors?: WordVectors) {
    this.#reader = new QueryReader(this.#postings, vectors && new WordNeighbours(this.#postings, vectors))
    this.#meanings = vectors && new ToolVectors(vectors)
  }

  add(item: T, document: SearchDocument): void {
    const id = this.#items.push(item) - 1
    // Texts are not kept: for ten thousand tools they would take most of the memory.
    const { server, name, safety, isDeprecated } = document
    this.#documents.push({ server, name, safety, isDeprecated })
    this.#folded.push(foldName(name))
    const texts = readTexts(document)
    this.#postings.add(id, document, texts)
    this.#meanings?.add(document, texts)
    this.#last = undefined
  }

  /**
   * Returns the best `limit` items, best first; at least one when any exist.
   * At least one place goes to another server, when another server has a match.
   * @param accepts which items to include
   * @param likeness replaces the index's own similarity in meaning
   */
  search(query: string, limit: number, accepts: (item: T) => boolean = () => true, likeness?: Likeness<T>): Hit<T>[] {
    const { scores } = this.#scored(query, likeness)
    return this.#best(
      query,
      limit,
      scores.map((score, id) => (score > 0 && accepts(this.#items[id]!) ? score : 0)),
      accepts,
    )
  }

  /** Like `search`, but only items that share a word with the query, or have one of similar meaning. */
  matches(query: string, limit: number, accepts: (item: T) => boolean, likeness?: Likeness<T>): Hit<T>[] {
    const { scores, byWords } = this.#scored(query, likeness)
    const fitting = scores.map((score, id) => (byWords[id]! > 0 && accepts(this.#items[id]!) ? score : 0))
    return this.#best(query, limit, fitting, () => false)
  }

  /**
   * Whether none of the items that were found fits the query. False without word vectors, or with another source of
   * meaning.
   * @param isOneOfSeveral whether it is one of several wordings, for which a tool must fit better
   */
  isWeak(query: string, items: readonly T[], likeness?: Likeness<T>, isOneOfSeveral = false): boolean {
    const { fits } = this.#scored(query, likeness)
    const ids = this.#judged(query, items)
    if (fits === undefined || ids === undefined) return false
    return isWeak(
      ids.map((id) => fits[id] ?? 0),
      isOneOfSeveral,
    )
  }

  /** Whether one of the items has the words of the query, or is not judged by them. Otherwise all are guesses. */
  isSaid(query: string, items: readonly T[], likeness?: Likeness<T>): boolean {
    const { spoken, fits } = this.#scored(query, likeness)
    const ids = this.#judged(query, items)
    return fits === undefined || ids === undefined || ids.some((id) => isSaid(spoken[id] ?? 0))
  }

  /** The numbers of the items; undefined when the query is the name of one of them. */
  #judged(query: string, items: readonly T[]): number[] | undefined {
    const ids = items.map((item) => this.#items.indexOf(item))
    const name = foldName(query)
    return ids.some((id) => name === this.#folded[id]) ? undefined : ids
  }

  /** Why `search` ranks an item where it does; undefined when it is not in the index. */
  explain(query: string, item: T, likeness?: Likeness<T>): Reason | undefined {
    const id = this.#items.indexOf(item)
    if (id === -1) return undefined
    const { scores, byWords } = this.#scored(query, likeness)
    const { concepts, words } = this.#reader.read(query)
    const own = likeness === undefined ? WORDS_MEANING * (this.#meanings?.likeness(words)?.[id] ?? 0) : undefined
    return {
      score: scores[id]!,
      words: byWords[id]!,
      meaning: own ?? GIVEN_MEANING * Math.max(0, likeness!(item)),
      isNamed: foldName(query) !== '' && foldName(query) === this.#folded[id],
      isDeprecated: this.#documents[id]!.isDeprecated,
      concepts: concepts.map((concept) => this.#foundFor(concept, id)),
    }
  }

  #foundFor({ own, ways }: Concept, id: number): Reason['concepts'][number] {
    let found: string | undefined
    let strength = 0
    for (const way of ways) {
      const best: Best = { weights: new Float64Array(this.#items.length), documents: [] }
      this.#collect(way, best)
      if (best.weights[id]! <= strength) continue
      strength = best.weights[id]!
      found = way.term
    }
    return { asked: own, found, strength: Math.min(1, strength) }
  }

  #best(query: string, limit: number, scores: Float64Array, otherwise: (item: T) => boolean): Hit<T>[] {
    let found = this.#top(scores, limit)
    if (found.length === 0) found = this.#anything(query, otherwise)
    found.sort((a, b) => b.score - a.score || this.#compare(a.id, b.id))
    return this.#spread(found, limit).map(({ id, score }) => ({ item: this.#items[id]!, score }))
  }

  /** The scores of every document: by words, and including meaning. */
  #scored(query: string, given: Likeness<T> | undefined): Scores<T> {
    if (this.#last?.query === query && this.#last.given === given) return this.#last
    const { concepts, words } = this.#reader.read(query)
    const { byWords, shares, spoken } = this.#byWords(concepts)
    const meant = given === undefined ? this.#meanings?.likeness(words) : undefined
    const folded = foldName(query)
    const scores = byWords.map((score, id) => {
      const { safety, isDeprecated } = this.#documents[id]!
      const meaning =
        given === undefined ? WORDS_MEANING * (meant?.[id] ?? 0) : GIVEN_MEANING * Math.max(0, given(this.#items[id]!))
      const named = folded !== '' && folded === this.#folded[id] ? EXACT_NAME : 0
      if (score === 0 && named === 0 && meaning < LEAST_MEANING) return 0
      return (score + meaning + named) * (1 + SAFE * safety) * (isDeprecated ? DEPRECATED : 1)
    })
    const isJudged = given === undefined && this.#meanings !== undefined && concepts.length > 0
    const fits = isJudged ? shares.map((share, id) => fitOf(share, meant?.[id] ?? 0)) : undefined
    return (this.#last = { query, given, scores, byWords, fits, spoken })
  }

  /** Scores from 0 to 1, and the shares of the query's weight that documents match, and that they match literally. */
  #byWords(concepts: readonly Concept[]): { byWords: Float64Array; shares: Float64Array; spoken: Float64Array } {
    const count = this.#items.length
    const byWords = new Float64Array(count)
    const covered = new Float64Array(count)
    const shares = new Float64Array(count)
    const spoken = new Float64Array(count)
    let total = 0
    let whole = 0
    for (const concept of concepts) {
      const best: Best = { weights: new Float64Array(count), documents: [] }
      const [own, ...others] = concept.ways
      this.#collect(own!, best)
      const said = best.documents.map((id) => ({ id, strength: best.weights[id]! }))
      for (const way of others) this.#collect(way, best)
      const rarity = this.#rarity(best.documents.length)
      const weight = weightInFit(concept, rarity)
      total += rarity
      whole += weight
      for (const id of best.documents) {
        const strength = Math.min(1, best.weights[id]!)
        byWords[id]! += rarity * strength
        covered[id]! += rarity * Math.min(1, strength * 2)
        shares[id]! += weight * GUESSED * strength
      }
      for (const { id, strength } of said) {
        shares[id]! += weight * (1 - GUESSED) * strength
        spoken[id]! += weight
      }
    }
    if (total === 0) return { byWords, shares, spoken }
    for (let id = 0; id < count; id += 1) {
      byWords[id]! *= (1 - COVERAGE + (COVERAGE * covered[id]!) / total) / total
      shares[id]! /= whole
      spoken[id]! /= whole
    }
    return { byWords, shares, spoken }
  }

  /** The documents that can be among the best `limit`, and the best of every server. Unsorted. */
  #top(scores: Float64Array, limit: number): { id: number; score: number }[] {
    const isBefore = (one: number, other: number): boolean => {
      const difference = scores[one]! - scores[other]!
      return difference > 0 || (difference === 0 && this.#compare(one, other) < 0)
    }
    /** Sorted, at most `limit`. */
    const first: number[] = []
    const best = new Map<string, number>()
    for (let id = 0; id < scores.length; id += 1) {
      if (scores[id]! <= 0) continue
      const { server } = this.#documents[id]!
      const before = best.get(server)
      if (before === undefined || isBefore(id, before)) best.set(server, id)
      if (first.length >= limit && !isBefore(id, first.at(-1)!)) continue
      let at = first.length
      while (at > 0 && isBefore(id, first[at - 1]!)) at -= 1
      first.splice(at, 0, id)
      if (first.length > limit) first.pop()
    }
    return [...new Set([...first, ...best.values()])].map((id) => ({ id, score: scores[id]! }))
  }

  /** For each document, the best alternative of a concept. */
  #collect({ term, weight }: Alternative, best: Best): void {
    const posting = this.#postings.get(term)
    if (posting === undefined) return
    const { documents, weights } = posting
    for (let at = 0; at < documents.length; at += 1) raise(best, documents[at]!, strengthOf(weights[at]!) * weight)
  }

  #rarity(documentCount: number): number {
    return Math.log(1 + (this.#items.length - documentCount + 0.5) / (documentCount + 0.5))
  }

  /** When no word matches: the tools with the most similar names, otherwise any tools, safe ones first. */
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

/** A term that occurs everywhere in a document adds little over one that occurs once. */
function strengthOf(weight: number): number {
  return weight / (SATURATION + weight)
}

/** The best alternative counts fully, the others a little. */
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
