// Finds tools by words: field-weighted term scores (after BM25F: Robertson, Zaragoza, 2009) over stems. Each word of
// the query is a concept with alternatives. The result does not depend on the order of documents. Pure.
import type { Reason } from '@sandbridge/core/calls/catalog'
import { readTexts, type SearchDocument } from './fields.ts'
import type { DocumentMeanings, Meanings } from '../meanings.ts'
import { Postings } from './postings.ts'
import { foldName } from '@sandbridge/core/util/text'
import { QueryReader, type Concept } from '../query-concepts.ts'
import { type Frequencies, Ranked, type RankedDocument, type Scores } from './ranked.ts'
import { GUESSED, weightInFit } from '../weak-answer.ts'

const SATURATION = 2
/** How much similarity in meaning adds to the score of the words, which is at most 1. */
const MEANING = 0.35
/** Below this similarity, a tool without a common word is not found. */
const LEAST_MEANING = 0.105
/** Added when the query is the tool's name: more than everything else together. */
const EXACT_NAME = 10
const SAFE = 0.02

export class SearchIndex<T> {
  readonly #postings = new Postings()
  readonly #reader: QueryReader
  readonly #documents: RankedDocument<T>[] = []
  /** By folded name, for queries that are a name. */
  readonly #byName = new Map<string, number[]>()
  /** Safe documents rank a little higher. */
  readonly #factors: number[] = []
  readonly #meanings: DocumentMeanings | undefined

  /** @param meanings without them, only words are compared */
  constructor(meanings?: Meanings) {
    this.#reader = new QueryReader(this.#postings, meanings?.neighboursIn(this.#postings))
    this.#meanings = meanings?.ofDocuments()
  }

  add(item: T, document: SearchDocument): void {
    // Texts are not kept: for ten thousand tools they would take most of the memory.
    const { server, name, safety } = document
    const folded = foldName(name)
    const id = this.#documents.push({ item, server, name, folded, safety }) - 1
    this.#factors.push(1 + SAFE * safety)
    const alike = this.#byName.get(folded)
    if (alike) alike.push(id)
    else if (folded !== '') this.#byName.set(folded, [id])
    const texts = readTexts(document)
    this.#postings.add(id, document, texts)
    this.#meanings?.add(document, texts)
  }

  /** @param beside of another index: words are as rare as if its documents were in this one, so that scores compare */
  rank(query: string, beside = ALONE): Ranked<T> {
    return new Ranked(this.#documents, this.#scores(query, this.#reader.read(query), beside))
  }

  /** Why each item has its rank, by one query; undefined for one that is not in the index. */
  explain(query: string, items: readonly T[]): (Reason | undefined)[] {
    const asked = this.#reader.read(query)
    const { scores, byWords, likeness, folded } = this.#scores(query, asked)
    return items.map((item) => {
      const id = this.#documents.findIndex((document) => document.item === item)
      if (id === -1) return undefined
      return {
        score: scores[id]!,
        words: byWords[id]!,
        meaning: MEANING * (likeness?.[id] ?? 0),
        isNamed: folded !== '' && folded === this.#documents[id]!.folded,
        concepts: asked.concepts.map((concept) => this.#foundFor(concept, id)),
      }
    })
  }

  #scores(query: string, { concepts, words }: ReturnType<QueryReader['read']>, beside = ALONE): Scores {
    const { byWords, shares, spoken, frequencies } = this.#byWords(concepts, beside)
    const likeness = this.#meanings?.likeness(words)
    const folded = foldName(query)
    const scores = new Float64Array(this.#documents.length)
    for (let id = 0; id < scores.length; id += 1) {
      const meaning = likeness === undefined ? 0 : MEANING * likeness[id]!
      if (byWords[id] === 0 && meaning < LEAST_MEANING) continue
      scores[id] = (byWords[id]! + meaning) * this.#factors[id]!
    }
    for (const id of this.#byName.get(folded) ?? []) scores[id]! += EXACT_NAME * this.#factors[id]!
    const isJudged = this.#meanings !== undefined && concepts.length > 0
    return {
      folded,
      hasWords: concepts.length > 0,
      scores,
      byWords,
      spoken,
      shares: isJudged ? shares : undefined,
      likeness,
      frequencies,
    }
  }

  #foundFor({ own, ways }: Concept, id: number): Reason['concepts'][number] {
    let found: string | undefined
    let strength = 0
    for (const { term, weight } of ways) {
      const posting = this.#postings.get(term)
      const at = posting === undefined ? -1 : posting.documents.indexOf(id)
      const its = at === -1 ? 0 : strengthOf(posting!.weights[at]!) * weight
      if (its > strength) [found, strength] = [term, its]
    }
    return { asked: own, found, strength }
  }

  /** How well the words of a query match each document. */
  #byWords(concepts: readonly Concept[], beside: Frequencies) {
    const count = this.#documents.length
    const [byWords, shares, spoken] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)]
    /** Of one concept: the strength of its best alternative in each document, and the documents where it is not 0. */
    const best = new Float64Array(count)
    const found = new Int32Array(count)
    const frequencies = { count, reached: new Map<string, number>() }
    let total = 0
    let whole = 0
    for (const concept of concepts) {
      const [said, reached] = this.#collect(concept, best, found)
      frequencies.reached.set(concept.own, reached)
      const everywhere = reached + (beside.reached.get(concept.own) ?? 0)
      const rarity = Math.log(1 + (count + beside.count - everywhere + 0.5) / (everywhere + 0.5))
      const weight = weightInFit(concept, rarity)
      total += rarity
      whole += weight
      for (let at = 0; at < reached; at += 1) {
        const id = found[at]!
        byWords[id]! += rarity * best[id]!
        shares[id]! += weight * GUESSED * best[id]!
        best[id] = 0
      }
      for (const [at, own] of said.entries()) {
        const id = found[at]!
        shares[id]! += weight * (1 - GUESSED) * strengthOf(own)
        spoken[id]! += weight
      }
    }
    if (total === 0) return { byWords, shares, spoken, frequencies }
    for (let id = 0; id < count; id += 1) {
      byWords[id]! /= total
      shares[id]! /= whole
      spoken[id]! /= whole
    }
    return { byWords, shares, spoken, frequencies }
  }

  /** @returns the weights of the word itself in the first documents of `found`, and how many documents were found */
  #collect({ ways }: Concept, best: Float64Array, found: Int32Array): [said: readonly number[], reached: number] {
    let reached = 0
    for (const { term, weight } of ways) {
      const { documents, weights } = this.#postings.get(term) ?? NOWHERE
      for (let at = 0; at < documents.length; at += 1) {
        const id = documents[at]!
        const strength = strengthOf(weights[at]!) * weight
        if (best[id] === 0) found[reached++] = id
        if (strength > best[id]!) best[id] = strength
      }
    }
    return [(this.#postings.get(ways[0]!.term) ?? NOWHERE).weights, reached]
  }
}

const ALONE: Frequencies = { count: 0, reached: new Map() }
const NOWHERE = { documents: [], weights: [] }

/** A term that occurs everywhere in a document adds little over one that occurs once. */
function strengthOf(weight: number): number {
  return weight / (SATURATION + weight)
}
