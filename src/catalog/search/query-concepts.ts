// What the words of a query may stand for: themselves, their synonyms, their completions, their likely right spellings. Pure.
import { editDistance } from '../../text/edit-distance.ts'
import { wholeName, type Postings } from './postings.ts'
import { byCodeUnit } from '../signature/python-name.ts'
import type { Alternative, Thesaurus } from './thesaurus.ts'
import { isStopWord, stem, stems, words } from './tokenize.ts'

/** One thing that a query asks for, and the ways to say it. */
export interface Concept {
  /** The word's own stem, when it is one word. */
  own: string | undefined
  ways: Alternative[]
}

const MAX_QUERY_LENGTH = 2000
const MAX_QUERY_WORDS = 40

export class QueryReader {
  readonly #postings: Postings
  readonly #thesaurus: Thesaurus

  constructor(postings: Postings, thesaurus: Thesaurus) {
    this.#postings = postings
    this.#thesaurus = thesaurus
  }

  concepts(query: string): Concept[] {
    const all = words(query.slice(0, MAX_QUERY_LENGTH)).slice(0, MAX_QUERY_WORDS)
    const concepts: Concept[] = [...this.#namesIn(query), ...this.#brokenPhrases(all)]
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
    return concepts
  }

  /** Names written as in code (`maxResults`, `sort_by`) also count whole. */
  #namesIn(query: string): Concept[] {
    const known = compounds(query.slice(0, MAX_QUERY_LENGTH)).filter((name) => this.#postings.get(name) !== undefined)
    return known.slice(0, 10).map((name) => ({ own: name, ways: [{ terms: [name], weight: 1.5 }] }))
  }

  /** Phrases of two words with others between them, or turned round: `set it aside`, `let them know`, `query is slow`. */
  #brokenPhrases(all: string[]): Concept[] {
    const concepts: Concept[] = []
    for (let first = 0; first < all.length; first += 1) {
      for (let second = first + 1; second < all.length && second <= first + 4; second += 1) {
        const pair = [stem(all[first]!), stem(all[second]!)]
        const ways = second > first + 1 ? this.#thesaurus.alternatives(pair) : undefined
        const turned = this.#thesaurus.alternatives(pair.toReversed())
        if (ways !== undefined || turned !== undefined) concepts.push({ own: undefined, ways: ways ?? turned ?? [] })
      }
    }
    return concepts
  }

  /** How many words from `at` on are one phrase of the thesaurus, at least one. */
  #phraseLength(all: string[], at: number): number {
    for (let length = Math.min(this.#thesaurus.longest, all.length - at); length > 1; length -= 1) {
      if (this.#thesaurus.alternatives(all.slice(at, at + length).flatMap(stems)) !== undefined) return length
    }
    return 1
  }

  #concept(terms: string[], phrase: string[], next: string | undefined): Concept {
    const ways: Alternative[] = [{ terms, weight: 1 }, ...(this.#thesaurus.alternatives(terms) ?? [])]
    if (terms.length > 1) {
      // Words of a phrase also count alone, a little.
      for (const [index, term] of terms.entries()) {
        if (!isStopWord(phrase[index] ?? term)) ways.push({ terms: [term], weight: 0.4 })
      }
      ways.push({ terms: [terms.join('')], weight: 0.9 })
      return { own: undefined, ways }
    }
    const term = terms[0]!
    // `screen shot` for `screenshot`.
    if (next !== undefined) ways.push({ terms: stems(phrase[0]! + next), weight: 0.9 })
    if (this.#postings.get(term) === undefined) ways.push(...this.#guesses(term, phrase[0]!))
    else if (term.length >= 4) ways.push(...this.#completions(term, 0.35, 8))
    return { own: term, ways }
  }

  /** What a word that no tool uses could be: the start of one, two in one, or one misspelt, with the synonyms of each. */
  #guesses(term: string, word: string): Alternative[] {
    const guesses = term.length >= 3 ? this.#completions(term, 0.7, 12) : []
    for (let cut = 3; cut <= word.length - 3; cut += 1) {
      const pair = [...stems(word.slice(0, cut)), ...stems(word.slice(cut))]
      if (pair.every((part) => this.#postings.get(part) !== undefined)) guesses.push({ terms: pair, weight: 0.9 })
    }
    if (word.length < 4 || this.#thesaurus.alternatives([term]) !== undefined) return guesses
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
      for (const other of this.#thesaurus.alternatives([knownStem]) ?? []) {
        guesses.push({ terms: other.terms, weight: other.weight * weight })
      }
    }
    return guesses
  }

  #completions(start: string, weight: number, limit: number): Alternative[] {
    const vocabulary = this.#postings.vocabulary
    let low = 0
    let high = vocabulary.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (vocabulary[middle]! < start) low = middle + 1
      else high = middle
    }
    const found: Alternative[] = []
    for (let at = low; at < vocabulary.length && found.length < limit; at += 1) {
      const term = vocabulary[at]!
      if (!term.startsWith(start)) break
      if (term !== start) found.push({ terms: [term], weight: weight * Math.sqrt(start.length / term.length) })
    }
    return found
  }
}

/** The names of several words in a query, as terms. */
function compounds(query: string): string[] {
  const names = query.match(/[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)+|[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*/g) ?? []
  return names.map(wholeName)
}
