// The words of all tools and where they are: what the search looks up. Pure.
import { byCodeUnit, foldName } from '../signature/python-name.ts'
import { chunks, stem, tokens, tokensOf, type Token } from './tokenize.ts'

/** What is searched of one tool. */
export interface SearchDocument {
  server: string
  name: string
  title: string
  /** The first sentence of the description, and what follows. */
  summary: string
  description: string
  /** Names of parameters, as the server writes them. */
  parameters: readonly string[]
  parameterDescriptions: string
  /** How safe the tool is: 1 reads only, 0 unknown, -1 destroys. Decides between near-equals. */
  safety: number
}

/** Where a term is, and how much it weighs there. */
export interface Posting {
  documents: number[]
  weights: number[]
  /** The weight so far in the document that is being added. */
  pending: number
  pendingFor: number
}

interface Field {
  key: 'title' | 'summary' | 'description' | 'parameterDescriptions' | 'server'
  weight: number
  /** Length in words from which on a field counts less. */
  pivot: number
  /** Running text, whose rare words are not taken for the right spelling of others. */
  isProse: boolean
  /** Longest text read, in characters: the rest of a long description is noise, and time. */
  limit: number
}

const NAME = { weight: 6, pivot: 3 }
const PARAMETERS = { weight: 1.6, pivot: 8 }
const FIELDS: Field[] = [
  { key: 'title', weight: 3, pivot: 4, limit: 160, isProse: false },
  { key: 'summary', weight: 3, pivot: 12, limit: 240, isProse: false },
  { key: 'description', weight: 1, pivot: 35, limit: 260, isProse: true },
  { key: 'parameterDescriptions', weight: 0.5, pivot: 35, limit: 240, isProse: true },
  { key: 'server', weight: 2, pivot: 3, limit: 80, isProse: false },
]

/** How much a word counts when it is said again in the same document. */
const REPEATED = 0.3

export class Postings {
  readonly #postings = new Map<string, Posting>()
  /** Words as they are written → stem, for correcting typos: stems of misspelt words are further apart than the words. */
  readonly #spellings = new Map<string, string>()
  /** All terms in order, for completing words; made when needed. */
  #vocabulary: string[] | undefined

  /** @param words further words that a misspelt one may be meant for */
  constructor(words: Iterable<string>) {
    for (const word of words) this.#spellings.set(word, stem(word))
  }

  get(term: string): Posting | undefined {
    return this.#postings.get(term)
  }

  get spellings(): ReadonlyMap<string, string> {
    return this.#spellings
  }

  /** All terms but numbers and whole names, in order. */
  get vocabulary(): readonly string[] {
    this.#vocabulary ??= [...this.#postings.keys()].filter((term) => !/^[\d=]/.test(term)).toSorted(byCodeUnit)
    return this.#vocabulary
  }

  /** In how many documents a term is. */
  frequency(term: string): number {
    return this.#postings.get(term)?.documents.length ?? 0
  }

  /** @param id greater than that of any document before */
  add(id: number, document: SearchDocument): void {
    const found: Posting[] = []
    for (const { key, weight, pivot, limit, isProse } of FIELDS) {
      if (document[key] !== '') this.#addText(document[key].slice(0, limit), weight, pivot, isProse, id, found)
    }
    this.#addName(document.name, NAME.weight, NAME.pivot, id, found)
    const pivot = PARAMETERS.pivot / (document.parameters.length || 1)
    for (const parameter of document.parameters) this.#addName(parameter, PARAMETERS.weight, pivot, id, found)
    for (const posting of found) {
      posting.documents.push(id)
      posting.weights.push(posting.pending)
    }
  }

  #addText(text: string, weight: number, pivot: number, isProse: boolean, id: number, found: Posting[]): void {
    const split = chunks(text)
    const share = shareOf(weight, split.length, pivot)
    for (const chunk of split) {
      for (const token of tokensOf(chunk)) {
        if (token.isStopWord) continue
        this.#note(token, id, share, found)
        if (!isProse) this.#spell(token)
      }
    }
  }

  /** A name counts by its words and, when it has several, as a whole: `toRevision` is also `torevision`. */
  #addName(text: string, weight: number, pivot: number, id: number, found: Posting[]): void {
    const { split, whole } = nameOf(text)
    const share = shareOf(weight, split.length, pivot)
    for (const token of split) {
      this.#note(token, id, share, found)
      this.#spell(token)
    }
    if (whole !== undefined) this.#note(whole, id, weight, found)
  }

  #note(token: Token, id: number, weight: number, found: Posting[]): void {
    let posting = this.#postings.get(token.stem)
    if (posting === undefined) {
      posting = { documents: [], weights: [], pending: 0, pendingFor: -1 }
      this.#postings.set(token.stem, posting)
      this.#vocabulary = undefined
    }
    if (posting.pendingFor === id) {
      posting.pending += weight * REPEATED
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
function shareOf(weight: number, length: number, pivot: number): number {
  return weight / (0.65 + (0.35 * length) / pivot)
}

interface SplitName {
  split: Token[]
  whole: Token | undefined
}

const NAME_CACHE_LIMIT = 20_000
const nameCache = new Map<string, SplitName>()

/** The term for a name of several words as a whole; no word can be the same. */
export function wholeName(name: string): string {
  return `=${foldName(name)}`
}

/** Remembered, as the parameters of most tools are called the same. */
function nameOf(text: string): SplitName {
  const known = nameCache.get(text)
  if (known !== undefined) return known
  const split = tokens(text)
  const whole = split.length > 1 ? { word: '', stem: wholeName(text), isStopWord: false } : undefined
  const name = { split, whole }
  if (nameCache.size >= NAME_CACHE_LIMIT) nameCache.clear()
  nameCache.set(text, name)
  return name
}
