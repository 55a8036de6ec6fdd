// Expands the words of a query: the words themselves, words of similar meaning, and corrections. Pure.
import { editDistance } from '@sandbridge/core/util/text'
import { lettersOf, type Postings } from './index/postings.ts'
import { byCodeUnit } from '@sandbridge/core/util/text'
import { chunksOf, isStopWord, stem } from './index/tokenize.ts'
import type { Alternative, Neighbours } from './meanings.ts'

/** One word of a query, as its stem, and the ways to say it. */
export interface Concept {
  own: string
  ways: Alternative[]
}

const MAX_QUERY_WORDS = 40
/** `screen shot` for `screenshot`. */
const WRITTEN_AS_ONE = 0.8
const MAX_CORRECTIONS = 4
/** Spellings that a word is compared with. Ten thousand tools have fewer that are near enough, except by intent. */
const MAX_COMPARED = 2_000
const CACHE_LIMIT = 2_000
/** A word that exists may be misspelt, too: `reed` for `read`. */
const CORRECTED_WORD = 0.4
/** A word of so many letters may have two wrong ones. */
const LONG = 8
/** `don't`, `site's`: what follows the apostrophe is no word. */
const CONTRACTED = /\b[a-z]+n['\u2019]t\b|['\u2019](?:s|re|ve|ll|d|m)\b/gi

export class QueryReader {
  readonly #postings: Postings
  readonly #neighbours: Neighbours | undefined
  /** By word: the wordings of one search have most of theirs in common. */
  readonly #corrected = new Map<string, Alternative[]>()
  #correctedFor = -1

  constructor(postings: Postings, neighbours: Neighbours | undefined) {
    this.#postings = postings
    this.#neighbours = neighbours
  }

  /** @returns `words`: those that describe a tool, as written */
  read(query: string) {
    const all = this.#wordsOf(query.replace(CONTRACTED, ' ')).slice(0, MAX_QUERY_WORDS)
    const asked = all.filter(({ word }) => all.length === 1 || !isStopWord(word))
    const concepts = new Map<string, Concept>()
    for (const { word, next } of asked) {
      const term = stem(word)
      if (!concepts.has(term)) concepts.set(term, this.#concept(term, word, next))
    }
    return { concepts: [...concepts.values()], words: asked.map(({ word }) => word) }
  }

  /** The words of a query, each with the next in its phrase. A compound (`sort_by`) is one word if tools use it so. */
  #wordsOf(query: string): { word: string; next: string | undefined }[] {
    return query.split(/[,;:.!?()[\]{}|]+/).flatMap((phrase) => {
      const words = (phrase.match(/[^\s"'`/]+/g) ?? []).flatMap((run) => this.#wordsOfRun(run))
      return words.map((word, at) => ({ word, next: words[at + 1] }))
    })
  }

  #wordsOfRun(run: string): string[] {
    const parts = chunksOf(run).flatMap(({ tokens, joined }) =>
      joined !== undefined && this.#postings.get(joined.stem) !== undefined ? [joined] : tokens,
    )
    const words = parts.map(({ word }) => word)
    const whole = words.join('')
    return words.length > 1 && this.#postings.get(stem(whole)) !== undefined ? [whole, ...words] : words
  }

  #concept(own: string, word: string, next: string | undefined): Concept {
    const ways: Alternative[] = [{ term: own, weight: 1 }]
    if (next !== undefined) ways.push({ term: stem(word + next), weight: WRITTEN_AS_ONE })
    const near = this.#neighbours?.of(word, own)
    ways.push(...(near ?? []))
    // A word of the tools is not misspelt.
    if (this.#postings.get(own) === undefined) ways.push(...this.#corrections(own, word, near !== undefined))
    return { own, ways }
  }

  /** @param isWord whether the word exists, in the vocabulary of the word vectors */
  #corrections(term: string, word: string, isWord: boolean): Alternative[] {
    if (word.length < 4) return []
    const { version } = this.#postings
    if (this.#correctedFor !== version || this.#corrected.size >= CACHE_LIMIT) this.#corrected.clear()
    this.#correctedFor = version
    let found = this.#corrected.get(word)
    if (found === undefined) this.#corrected.set(word, (found = this.#correct(term, word, isWord)))
    return found
  }

  #correct(term: string, word: string, isWord: boolean): Alternative[] {
    const limit = word.length >= LONG ? 2 : 1
    const reach = isWord ? 0 : limit
    const letters = lettersOf(word)
    const ownConsonants = consonants(word)
    const near: { word: string; stem: string; edits: number }[] = []
    let compared = 0
    for (let length = word.length - reach; length <= word.length + reach; length += 1) {
      for (const known of this.#postings.spellings(length)) {
        if (compared === MAX_COMPARED) break
        // Each edit replaces one letter at most.
        if (known.stem === term || bitsOf(letters ^ known.letters) > 2 * limit) continue
        compared += 1
        const edits = editDistance(word, known.word, limit)
        if (edits > limit) continue
        // A slip adds or loses a letter, swaps letters or confuses vowels: `retoot` is not a misspelt `reboot`.
        const isSlip =
          length !== word.length ||
          ownConsonants === consonants(known.word) ||
          (!isWord && edits === 1 && word.length >= LONG)
        if (isSlip) near.push({ word: known.word, stem: known.stem, edits })
      }
    }
    near.sort(
      (a, b) =>
        a.edits - b.edits ||
        this.#postings.frequency(b.stem) - this.#postings.frequency(a.stem) ||
        byCodeUnit(a.word, b.word),
    )
    return near.slice(0, MAX_CORRECTIONS).map(({ word: known, stem: knownStem, edits }) => ({
      term: knownStem,
      weight: (edits === 1 ? 0.8 : 0.6) * (known[0] === word[0] ? 1 : 0.6) * (isWord ? CORRECTED_WORD : 1),
    }))
  }
}

/** How many bits of a number are set. */
function bitsOf(number: number): number {
  let bits = 0
  for (let left = number; left !== 0; left &= left - 1) bits += 1
  return bits
}

/** The consonants of a word in alphabetical order, so that swapped ones do not count. */
function consonants(word: string): string {
  return word
    .replaceAll(/[aeiouy]/g, '')
    .split('')
    .toSorted()
    .join('')
}
