// Index from words to tools. Pure.
import {
  NAME_FIELDS,
  TEXT_FIELDS,
  type NameField,
  type ReadTexts,
  type SearchDocument,
  type TextField,
} from './fields.ts'
import { stem, tokens, type Chunk, type Token } from './tokenize.ts'

/** The documents that contain a term, and its weight in each. */
export interface Posting {
  /** The first spelling of the term that was seen. */
  word: string
  documents: number[]
  weights: number[]
  /** The weight so far in the document that is being added. */
  pending: number
  pendingFor: number
  /** The number of the field that is being read, counted over all documents, and how often the term occurred in it. */
  field: number
  count: number
}

/** A written word. */
interface Spelling {
  word: string
  stem: string
  /** See `lettersOf`. */
  letters: number
}

/** The weight of a repeated word in one field, and the number of repetitions that count. */
const REPEATED = 0.3
const MAX_REPEATS = 4

export class Postings {
  readonly #postings = new Map<string, Posting>()
  /** For correcting typos: stems of misspelt words differ more than the words. */
  readonly #spelt = new Set<string>()
  readonly #spellings: Spelling[][] = []
  /** Number of fields read so far, of all documents. */
  #fields = 0

  get(term: string): Posting | undefined {
    return this.#postings.get(term)
  }

  entries(): Iterable<[string, Posting]> {
    return this.#postings
  }

  /** The words with this number of letters, as they are written. */
  spellings(length: number): readonly Spelling[] {
    return this.#spellings[length] ?? []
  }

  /** Another number whenever documents were added. */
  get version(): number {
    return this.#fields
  }

  frequency(term: string): number {
    return this.#postings.get(term)?.documents.length ?? 0
  }

  /** @param id greater than the id of every earlier document */
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

  /** A name counts by its words and, when it has several, also as a whole: `toRevision` is also `torevision`. */
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
    if (word.length < 4 || this.#spelt.has(word) || /\d/.test(word)) return
    this.#spelt.add(word)
    const alike = (this.#spellings[word.length] ??= [])
    alike.push({ word, stem: term, letters: lettersOf(word) })
  }
}

/** The letters that a word has, one bit for each; letters other than a to z share those. */
export function lettersOf(word: string): number {
  let letters = 0
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31)
  return letters
}

/** The longer a field, the less each of its words counts. */
function shareOf({ weight, lengthShare, usualLength }: NameField | TextField, length: number): number {
  return weight / (1 - lengthShare + (lengthShare * length) / usualLength)
}

interface SplitName {
  split: Token[]
  whole: Token | undefined
}

const NAME_CACHE_LIMIT = 20_000
const nameCache = new Map<string, SplitName>()

/** Cached, because most tools use the same parameter names. */
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
