// Expands the words of a query: the words themselves, synonyms, completions and likely corrections. Pure.
import { editDistance } from '../../../util/text/did-you-mean.ts'
import type { Postings } from './postings.ts'
import { byCodeUnit } from '../../../util/text/python-name.ts'
import { requestIn } from './request.ts'
import type { Alternative, Thesaurus } from './thesaurus.ts'
import { chunksOf, isStopWord, stem, stems } from './tokenize.ts'
import type { WordNeighbours } from './word-neighbours.ts'

/** One thing that a query asks for, and the ways to say it. */
export interface Concept {
  /** The stem of the word, when the concept is a single word. */
  own: string | undefined
  ways: Alternative[]
}

export interface ReadQuery {
  concepts: Concept[]
  /** The words that describe a tool, as written. */
  words: string[]
}

const MAX_QUERY_LENGTH = 2000
const MAX_QUERY_WORDS = 40

/** The weight of an alternative by its origin; the word itself has weight 1. */
const SYNONYM = 0.75
const SYNONYM_OF_PHRASE = 0.7
const WORD_OF_PHRASE = 0.5
const WRITTEN_AS_ONE = 0.8

export class QueryReader {
  readonly #postings: Postings
  readonly #thesaurus: Thesaurus
  readonly #neighbours: WordNeighbours | undefined

  constructor(postings: Postings, thesaurus: Thesaurus, neighbours: WordNeighbours | undefined) {
    this.#postings = postings
    this.#thesaurus = thesaurus
    this.#neighbours = neighbours
  }

  read(query: string): ReadQuery {
    const isName = (word: string): boolean => this.#postings.get(stem(word)) !== undefined
    const all = this.#wordsOf(requestIn(query.slice(0, MAX_QUERY_LENGTH), isName)).slice(0, MAX_QUERY_WORDS)
    const concepts: Concept[] = this.#brokenPhrases(all)
    const seen = new Set<string>()
    for (let at = 0; at < all.length;) {
      const length = this.#phraseLength(all, at)
      const phrase = all.slice(at, at + length)
      at += length
      const terms = phrase.flatMap(stems)
      const key = terms.join(' ')
      if (terms.length === 0 || seen.has(key)) continue
      if (length === 1 && isStopWord(phrase[0]!) && all.length > 1) continue
      seen.add(key)
      concepts.push(this.#concept(terms, phrase, all[at]))
    }
    return { concepts, words: all.filter((word) => all.length === 1 || !isStopWord(word)) }
  }

  /** The words of a query. A compound name (`maxResults`, `sort_by`, `PromQL`) is one word if tools use it as one. */
  #wordsOf(query: string): string[] {
    const all: string[] = []
    for (const run of query.match(/[^\s,;:.!?()[\]{}"'`/]+/g) ?? []) {
      const parts = chunksOf(run).flatMap(({ tokens, joined }) =>
        joined !== undefined && this.#postings.get(joined.stem) !== undefined ? [joined] : tokens,
      )
      const whole = parts.length > 1 ? parts.map(({ word }) => word).join('') : undefined
      if (whole !== undefined && this.#postings.get(stem(whole)) !== undefined) all.push(whole)
      all.push(...parts.map(({ word }) => word))
    }
    return all
  }

  /** Phrases of two words that are separated or reversed: `set it aside`, `let them know`, `query is slow`. */
  #brokenPhrases(all: string[]): Concept[] {
    const concepts: Concept[] = []
    for (let first = 0; first < all.length; first += 1) {
      for (let second = first + 1; second < all.length && second <= first + 4; second += 1) {
        const pair = [stem(all[first]!), stem(all[second]!)]
        const found =
          (second > first + 1 ? this.#thesaurus.alternatives(pair) : undefined) ??
          this.#thesaurus.alternatives(pair.toReversed())
        if (found !== undefined) concepts.push({ own: undefined, ways: weakened(found, SYNONYM_OF_PHRASE) })
      }
    }
    return concepts
  }

  /** The number of words from `at` on that form a phrase of the thesaurus, at least one. */
  #phraseLength(all: string[], at: number): number {
    for (let length = Math.min(this.#thesaurus.longest, all.length - at); length > 1; length -= 1) {
      if (this.#thesaurus.alternatives(all.slice(at, at + length).flatMap(stems)) !== undefined) return length
    }
    return 1
  }

  #concept(terms: string[], phrase: string[], next: string | undefined): Concept {
    const said = this.#thesaurus.alternatives(terms) ?? []
    const ways: Alternative[] = [{ terms, weight: 1 }]
    if (terms.length > 1) {
      ways.push(...weakened(said, SYNONYM_OF_PHRASE))
      for (const [index, term] of terms.entries()) {
        if (!isStopWord(phrase[index] ?? term)) ways.push({ terms: [term], weight: WORD_OF_PHRASE })
      }
      ways.push({ terms: [terms.join('')], weight: WRITTEN_AS_ONE })
      return { own: undefined, ways }
    }
    const term = terms[0]!
    ways.push(...weakened(said, SYNONYM))
    // `screen shot` for `screenshot`.
    if (next !== undefined) ways.push({ terms: stems(phrase[0]! + next), weight: WRITTEN_AS_ONE })
    const near = this.#neighbours?.of(phrase[0]!, term)
    for (const one of near ?? [])
      if (!ways.some(({ terms: [first, ...more] }) => first === one.terms[0] && more.length === 0)) ways.push(one)
    // No guesses for a known word: `red` is not the start of `redis`.
    if (this.#postings.get(term) === undefined) {
      ways.push(...this.#parts(phrase[0]!))
      if (near === undefined && said.length === 0) ways.push(...this.#guesses(term, phrase[0]!))
    }
    return { own: term, ways }
  }

  /** Splits a word into two known words. */
  #parts(word: string): Alternative[] {
    const found: Alternative[] = []
    for (let cut = 3; cut <= word.length - 3; cut += 1) {
      const pair = [...stems(word.slice(0, cut)), ...stems(word.slice(cut))]
      if (pair.every((part) => this.#postings.get(part) !== undefined)) found.push({ terms: pair, weight: 0.9 })
    }
    return found
  }

  /** Guesses for an unknown word: completions, corrections, and the synonyms of corrections. */
  #guesses(term: string, word: string): Alternative[] {
    const guesses = term.length >= 3 ? this.#completions(term) : []
    if (word.length < 4) return guesses
    const limit = word.length >= 8 ? 2 : 1
    const near: { word: string; stem: string; edits: number }[] = []
    for (const [known, knownStem] of this.#postings.spellings) {
      if (known.length < 4 || Math.abs(known.length - word.length) > limit || knownStem === term) continue
      const edits = editDistance(word, known, limit)
      if (edits <= limit) near.push({ word: known, stem: knownStem, edits })
    }
    near.sort(
      (a, b) =>
        a.edits - b.edits ||
        this.#postings.frequency(b.stem) - this.#postings.frequency(a.stem) ||
        byCodeUnit(a.word, b.word),
    )
    for (const { word: known, stem: knownStem, edits } of near.slice(0, 4)) {
      const weight = (edits === 1 ? 0.8 : 0.6) * (known[0] === word[0] ? 1 : 0.6)
      guesses.push({ terms: [knownStem], weight })
      guesses.push(...weakened(this.#thesaurus.alternatives([knownStem]) ?? [], weight))
    }
    return guesses
  }

  #completions(start: string): Alternative[] {
    const vocabulary = this.#postings.vocabulary
    let low = 0
    let high = vocabulary.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (vocabulary[middle]! < start) low = middle + 1
      else high = middle
    }
    const found: Alternative[] = []
    for (let at = low; at < vocabulary.length && found.length < MAX_COMPLETIONS; at += 1) {
      const term = vocabulary[at]!
      if (!term.startsWith(start)) break
      if (term !== start) found.push({ terms: [term], weight: COMPLETION * Math.sqrt(start.length / term.length) })
    }
    return found
  }
}

const COMPLETION = 0.7
const MAX_COMPLETIONS = 12

function weakened(ways: readonly Alternative[], share: number): Alternative[] {
  return ways.map(({ terms, weight }) => ({ terms, weight: weight * share }))
}
