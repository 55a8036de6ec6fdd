// The words of all tools and where they are: what the search looks up. Pure.
import {
  NAME_FIELDS,
  TEXT_FIELDS,
  type NameField,
  type ReadTexts,
  type SearchDocument,
  type TextField,
} from './fields.ts'
import { byCodeUnit } from '../../text/python-name.ts'
import { stem, tokens, type Chunk, type Token } from './tokenize.ts'

/** Where a term is, and how much it weighs there. */
export interface Posting {
  /** The first form of the term that was seen. */
  word: string
  documents: number[]
  weights: number[]
  /** The weight so far in the document that is being added. */
  pending: number
  pendingFor: number
  /** The field that is being read, as one number for all documents, and how often the term was in it. */
  field: number
  count: number
}

/** How much a word counts when the same field says it again, and how often again. */
const REPEATED = 0.3
const MAX_REPEATS = 4

export class Postings {
  readonly #postings = new Map<string, Posting>()
  /** Words as they are written → stem, for correcting typos: stems of misspelt words are further apart than the words. */
  readonly #spellings = new Map<string, string>()
  /** All terms in order, for completing words; made when needed. */
  #vocabulary: string[] | undefined
  /** Fields read so far, of all documents. */
  #fields = 0

  /** @param words further words that a misspelt one may be meant for */
  constructor(words: Iterable<string>) {
    for (const word of words) this.#spellings.set(word, stem(word))
  }

  get(term: string): Posting | undefined {
    return this.#postings.get(term)
  }

  get size(): number {
    return this.#postings.size
  }

  entries(): Iterable<[string, Posting]> {
    return this.#postings
  }

  get spellings(): ReadonlyMap<string, string> {
    return this.#spellings
  }

  /** All terms but numbers, in order. */
  get vocabulary(): readonly string[] {
    this.#vocabulary ??= [...this.#postings.keys()].filter((term) => !/^\d/.test(term)).toSorted(byCodeUnit)
    return this.#vocabulary
  }

  /** In how many documents a term is. */
  frequency(term: string): number {
    return this.#postings.get(term)?.documents.length ?? 0
  }

  /** @param id greater than that of any document before */
  add(id: number, document: SearchDocument, texts: ReadTexts): void {
    const found: Posting[] = []
    for (const field of TEXT_FIELDS) this.#addText(texts[field.key], field, id, found)
    for (const field of NAME_FIELDS) {
      const names = document[field.key]
      if (names.length > 0) this.#addNames(typeof names === 'string' ? [names] : names, field, id, found)
    }
    for (const posting of found) {
      posting.documents.push(id)
      posting.weights.push(posting.pending)
    }
  }

  #addText(text: readonly Chunk[], field: TextField, id: number, found: Posting[]): void {
    const share = shareOf(field, text.length)
    this.#fields += 1
    for (const { tokens: parts, joined } of text) {
      for (const token of parts) {
        if (token.isStopWord) continue
        this.#note(token, id, share, found)
        if (!field.isProse) this.#spell(token)
      }
      if (joined !== undefined) this.#note(joined, id, share, found)
    }
  }

  /** A name counts by its words and, when it has several, as a whole: `toRevision` is also `torevision`. */
  #addNames(names: readonly string[], field: NameField, id: number, found: Posting[]): void {
    const all = names.map(nameOf)
    const share = shareOf(
      field,
      all.reduce((sum, { split }) => sum + split.length, 0),
    )
    this.#fields += 1
    for (const { split, whole } of all) {
      for (const token of split) {
        this.#note(token, id, share, found)
        this.#spell(token)
      }
      if (whole !== undefined) this.#note(whole, id, field.weight, found)
    }
  }

  #note(token: Token, id: number, weight: number, found: Posting[]): void {
    let posting = this.#postings.get(token.stem)
    if (posting === undefined) {
      posting = { word: token.word, documents: [], weights: [], pending: 0, pendingFor: -1, field: -1, count: 0 }
      this.#postings.set(token.stem, posting)
      this.#vocabulary = undefined
    }
    if (posting.field === this.#fields) {
      posting.count += 1
      if (posting.count <= MAX_REPEATS) posting.pending += weight * REPEATED
      return
    }
    posting.field = this.#fields
    posting.count = 0
    if (posting.pendingFor === id) {
      posting.pending += weight
      return
    }
    posting.pendingFor = id
    posting.pending = weight
    found.push(posting)
  }

  #spell({ word, stem: term }: Token): void {
    if (word.length >= 4 && !this.#spellings.has(word) && !/\d/.test(word)) this.#spellings.set(word, term)
  }
}

/** The longer a field, the less each word of it says. */
function shareOf({ weight, lengthShare, usualLength }: NameField | TextField, length: number): number {
  return weight / (1 - lengthShare + (lengthShare * length) / usualLength)
}

interface SplitName {
  split: Token[]
  whole: Token | undefined
}

const NAME_CACHE_LIMIT = 20_000
const nameCache = new Map<string, SplitName>()

/** Cached, as the parameters of most tools are called the same. */
function nameOf(text: string): SplitName {
  const known = nameCache.get(text)
  if (known !== undefined) return known
  const split = tokens(text)
  const joined = split.map(({ word }) => word).join('')
  const whole = split.length > 1 ? { word: joined, stem: stem(joined), isStopWord: false } : undefined
  const name = { split, whole }
  if (nameCache.size >= NAME_CACHE_LIMIT) nameCache.clear()
  nameCache.set(text, name)
  return name
}
