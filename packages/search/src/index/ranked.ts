// The best documents for one query, from the scores that the index gave them. Pure.
import { byCodeUnit } from '@sandbridge/core/util/text'
import { fitOf, type Judged } from '../weak-answer.ts'

export interface Hit<T> extends Judged {
  item: T
  score: number
}

export interface RankedDocument<T> {
  item: T
  server: string
  name: string
  /** The folded name, for queries that are a name. */
  folded: string
  /** See `SearchDocument`. */
  safety: number
}

/** What the index knows of each document for one query, by the document's number. */
export interface Scores {
  /** The query as a folded name. */
  folded: string
  hasWords: boolean
  /** 0 for a document that is not found. */
  scores: Float64Array
  /** The score of the words alone. */
  byWords: Float64Array
  /** The share of the query's weight in its own words. */
  spoken: Float64Array
  /** The share of the query's weight; missing when fits cannot be judged. */
  shares: Float64Array | undefined
  /** Similarity in meaning from 0 to 1. */
  likeness: Float64Array | undefined
  frequencies: Frequencies
}

/** How rare the words of a query are. */
export interface Frequencies {
  count: number
  /** By the stem of each word of the query, the number of documents that match it. */
  reached: ReadonlyMap<string, number>
}

export class Ranked<T> {
  readonly #documents: readonly RankedDocument<T>[]
  readonly #scores: Scores

  constructor(documents: readonly RankedDocument<T>[], scores: Scores) {
    this.#documents = documents
    this.#scores = scores
  }

  /** Whether the query has no word to search for and is the name of no item: the best have similar names at most. */
  get isOfNothing(): boolean {
    return !this.#scores.hasWords && this.#scores.scores.every((score) => score === 0)
  }

  /** Whether the query has no letter that a name could have: any item is as good. */
  get isEmpty(): boolean {
    return !this.#scores.hasWords && this.#scores.folded === ''
  }

  /** For another index whose scores are compared with these. */
  get frequencies(): Frequencies {
    return this.#scores.frequencies
  }

  /** Returns the best `limit` items, best first; at least one when any is accepted. */
  best(limit: number, accepts: (item: T) => boolean = () => true): Hit<T>[] {
    const { scores } = this.#scores
    const found = this.#top(scores, limit, accepts)
    if (found.length > 0) return found
    return this.#top(this.#likeNames(), limit, accepts).map((hit) => ({ ...hit, score: 0 }))
  }

  /** Like `best`, but only items that share a word with the query, or have one of similar meaning. */
  matching(limit: number, accepts: (item: T) => boolean = () => true): Hit<T>[] {
    const { scores, byWords } = this.#scores
    return this.#top(
      scores.map((score, id) => (byWords[id]! > 0 ? score : 0)),
      limit,
      accepts,
    )
  }

  /** Reads each score once, and asks `accepts` only about documents that may be among the best. */
  #top(scores: Float64Array, limit: number, accepts: (item: T) => boolean): Hit<T>[] {
    const best: number[] = []
    for (let id = 0; id < scores.length; id += 1) {
      const score = scores[id]!
      if (score <= 0 || (best.length === limit && this.#isAfter(id, best.at(-1)!, scores))) continue
      if (!accepts(this.#documents[id]!.item)) continue
      let at = best.length
      while (at > 0 && this.#isAfter(best[at - 1]!, id, scores)) at -= 1
      best.splice(at, 0, id)
      if (best.length > limit) best.pop()
    }
    return best.map((id) => this.#hit(id, scores[id]!))
  }

  #isAfter(one: number, other: number, scores: Float64Array): boolean {
    if (scores[one] !== scores[other]) return scores[one]! < scores[other]!
    const [a, b] = [this.#documents[one]!, this.#documents[other]!]
    return (b.safety - a.safety || byCodeUnit(a.server, b.server) || byCodeUnit(a.name, b.name)) > 0
  }

  #hit(id: number, score: number): Hit<T> {
    const { item, folded } = this.#documents[id]!
    const { shares, likeness, spoken } = this.#scores
    const isJudged = shares !== undefined && folded !== this.#scores.folded
    return {
      item,
      score,
      fit: isJudged ? fitOf(shares[id]!, likeness?.[id] ?? 0) : undefined,
      said: isJudged ? spoken[id] : undefined,
    }
  }

  /** When no word matches: the tools with the most similar names, otherwise any tools, safe ones first. */
  #likeNames(): Float64Array {
    const wanted = pairsOf(this.#scores.folded.slice(0, 200))
    return Float64Array.from(this.#documents, ({ folded, safety }) => {
      const pairs = pairsOf(folded)
      let common = 0
      for (const pair of pairs) if (wanted.has(pair)) common += 1
      return (2 * common) / (pairs.size + wanted.size || 1) + 0.001 * (2 + safety)
    })
  }
}

/** The best `limit` hits of two indexes. Those that match no word count only where there are no others. */
export function bestOf<T>(limit: number, one: readonly Hit<T>[], other: readonly Hit<T>[]): Hit<T>[] {
  const all = [...one, ...other]
  const matching = all.filter(({ score }) => score > 0)
  return (matching.length > 0 ? matching.toSorted((a, b) => b.score - a.score) : all).slice(0, limit)
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>()
  for (let at = 0; at < text.length - 1; at += 1) pairs.add(text.slice(at, at + 2))
  return pairs
}
