// Finds tools by words. Field-weighted term scores (after BM25F: Robertson, Zaragoza, "The Probabilistic Relevance Framework", 2009)
// over stems, where every word or phrase of the query is a concept: itself, its synonyms, its completions, its likely misspellings.
// The same documents and the same query give the same answer, in whatever order the documents came. Pure.
import { editDistance } from './did-you-mean.ts'
import { byCodeUnit, foldName } from './python-name.ts'
import { Thesaurus } from './thesaurus.ts'
import { chunks, stem, stems, tokens, tokensOf, words, type Token } from './tokenize.ts'

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

export interface Hit<T> {
  item: T
  score: number
}

interface Field {
  key: 'title' | 'summary' | 'description' | 'parameterDescriptions' | 'server'
  weight: number
  /** Length in words from which on a field counts less. */
  pivot: number
  /** Longest text read, in characters: the rest of a long description is noise, and time. */
  limit: number
}

const NAME = { weight: 6, pivot: 3 }
const PARAMETERS = { weight: 1.6, pivot: 8 }
const FIELDS: Field[] = [
  { key: 'title', weight: 3, pivot: 4, limit: 160 },
  { key: 'summary', weight: 3, pivot: 12, limit: 240 },
  { key: 'description', weight: 1, pivot: 35, limit: 260 },
  { key: 'parameterDescriptions', weight: 0.5, pivot: 35, limit: 240 },
  { key: 'server', weight: 2, pivot: 3, limit: 80 },
]

const SATURATION = 3
/** How much a second way to say the same adds to the best one. */
const OTHER_WAYS = 0.2
/** How much a word counts when it is said again. */
const REPEATED = 0.3
const STOP_WORDS = new Set(
  (
    'a an the of to in on at for with by from as into onto about and or but if so than then that this these those there it its is are was ' +
    'were be been being am i me my mine we us our you your he she they them their his her do does did done can could would should will ' +
    'shall may might must have has had having please want wanted need needed like let lets how what which who whom whose when where why ' +
    'some any each just also too very really now out up off over under via using use used someone something somebody anything thing things ' +
    'tool tools way'
  ).split(' '),
)

/** Where a term is, and how much it weighs there. */
interface Posting {
  documents: number[]
  weights: number[]
  /** The weight so far in the document that is being added. */
  pending: number
  pendingFor: number
}

/** The weight of one concept in every document, and which have any. */
interface Best {
  weights: Float64Array
  documents: number[]
}

interface WeightedTerms {
  terms: string[]
  weight: number
}

interface Concept {
  /** The word's own stem, when it is one word. */
  own: string | undefined
  ways: WeightedTerms[]
}

export class SearchIndex<T> {
  readonly #thesaurus: Thesaurus
  readonly #items: T[] = []
  readonly #documents: Pick<SearchDocument, 'server' | 'name' | 'safety'>[] = []
  readonly #postings = new Map<string, Posting>()
  /** All terms in order, for completing words; made when needed. */
  #vocabulary: string[] | undefined
  /** Words as they are written → stem, for correcting typos: stems of misspelt words are further apart than the words. */
  readonly #spellings = new Map<string, string>()
  /** Folded names, for queries that are a name. */
  readonly #folded: string[] = []

  constructor(thesaurus: Thesaurus = new Thesaurus()) {
    this.#thesaurus = thesaurus
    for (const word of thesaurus.words) this.#spellings.set(word, stem(word))
  }

  get size(): number {
    return this.#items.length
  }

  add(item: T, document: SearchDocument): void {
    const id = this.#items.push(item) - 1
    // The texts are not kept: of ten thousand tools they would be most of the memory.
    const { server, name, safety } = document
    this.#documents.push({ server, name, safety })
    this.#folded.push(foldName(document.name))
    const found: Posting[] = []
    for (const { key, weight, pivot, limit } of FIELDS) {
      if (document[key] !== '') this.#addText(document[key].slice(0, limit), weight, pivot, id, found)
    }
    this.#addName(name, NAME.weight, NAME.pivot, id, found)
    const pivot = PARAMETERS.pivot / (document.parameters.length || 1)
    for (const parameter of document.parameters) this.#addName(parameter, PARAMETERS.weight, pivot, id, found)
    for (const posting of found) {
      posting.documents.push(id)
      posting.weights.push(posting.pending)
    }
  }

  #addText(text: string, weight: number, pivot: number, id: number, found: Posting[]): void {
    const split = chunks(text)
    const share = weight / (0.65 + (0.35 * split.length) / pivot)
    for (const chunk of split) {
      for (const token of tokensOf(chunk))
        this.#note(this.#postings.get(token.stem) ?? this.#newPosting(token), id, share, found)
    }
  }

  /** A name counts by its words and, when it has several, as a whole: `toRevision` is also `torevision`. */
  #addName(text: string, weight: number, pivot: number, id: number, found: Posting[]): void {
    const { split, whole } = nameOf(text)
    const share = weight / (0.65 + (0.35 * split.length) / pivot)
    for (const token of split) this.#note(this.#postings.get(token.stem) ?? this.#newPosting(token), id, share, found)
    if (whole === undefined) return
    this.#note(this.#postings.get(whole.stem) ?? this.#newPosting(whole), id, weight, found)
  }

  #note(posting: Posting, id: number, weight: number, found: Posting[]): void {
    if (posting.pendingFor === id) {
      posting.pending += weight * REPEATED
      return
    }
    posting.pendingFor = id
    posting.pending = weight
    found.push(posting)
  }

  #newPosting({ word, stem: term }: Token): Posting {
    const posting: Posting = { documents: [], weights: [], pending: 0, pendingFor: -1 }
    this.#postings.set(term, posting)
    this.#vocabulary = undefined
    if (word.length >= 4 && !/\d/.test(word)) this.#spellings.set(word, term)
    return posting
  }

  /**
   * The best `limit` items, best first; never none while there are any.
   * One server gets at most all but one of the places when another has something to offer.
   * @param accepts which items count at all
   */
  search(query: string, limit: number, accepts: (item: T) => boolean = () => true): Hit<T>[] {
    const scores = this.#score(query)
    for (const [id, item] of this.#items.entries()) {
      if (scores[id]! > 0) scores[id] = accepts(item) ? scores[id]! * (1 + 0.02 * this.#documents[id]!.safety) : 0
    }
    let found = this.#top(scores, limit)
    if (found.length === 0) found = this.#anything(query, accepts)
    found.sort((a, b) => b.score - a.score || this.#compare(a.id, b.id))
    return this.#spread(found, limit).map(({ id, score }) => ({ item: this.#items[id]!, score }))
  }

  /** A score for every document. */
  #score(query: string): Float64Array {
    const count = this.#items.length
    const scores = new Float64Array(count)
    const covered = new Float64Array(count)
    let total = 0
    for (const concept of this.#concepts(query)) {
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
  #collect(way: WeightedTerms, best: Best): void {
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

  #concepts(query: string): Concept[] {
    const all = words(query.slice(0, 2000)).slice(0, 40)
    const concepts: Concept[] = [...this.#namesIn(query), ...this.#brokenPhrases(all)]
    const seen = new Set<string>()
    for (let at = 0; at < all.length;) {
      const length = this.#phraseLength(all, at)
      const phrase = all.slice(at, at + length)
      at += length
      const terms = phrase.flatMap(stems)
      const key = terms.join(' ')
      if (terms.length === 0 || seen.has(key)) continue
      if (length === 1 && STOP_WORDS.has(phrase[0]!) && all.length > 1) continue
      seen.add(key)
      concepts.push(this.#concept(terms, phrase, all[at]))
    }
    return concepts
  }

  /** Names written as in code (`maxResults`, `sort_by`) also count whole. */
  #namesIn(query: string): Concept[] {
    const known = compounds(query.slice(0, 2000)).filter((name) => this.#postings.has(name))
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
    const ways: WeightedTerms[] = [{ terms, weight: 1 }, ...(this.#thesaurus.alternatives(terms) ?? [])]
    if (terms.length > 1) {
      // Words of a phrase also count alone, a little.
      for (const [index, term] of terms.entries()) {
        if (!STOP_WORDS.has(phrase[index] ?? term)) ways.push({ terms: [term], weight: 0.4 })
      }
      ways.push({ terms: [terms.join('')], weight: 0.9 })
      return { own: undefined, ways }
    }
    const term = terms[0]!
    // `screen shot` for `screenshot`.
    if (next !== undefined) ways.push({ terms: stems(phrase[0]! + next), weight: 0.9 })
    if (!this.#postings.has(term)) ways.push(...this.#guesses(term, phrase[0]!))
    else if (term.length >= 4) ways.push(...this.#completions(term, 0.35, 8))
    return { own: term, ways }
  }

  /** What a word that no tool uses could be: the start of one, two in one, or one misspelt, with the synonyms of each. */
  #guesses(term: string, word: string): WeightedTerms[] {
    const guesses = term.length >= 3 ? this.#completions(term, 0.7, 12) : []
    for (let cut = 3; cut <= word.length - 3; cut += 1) {
      const pair = [...stems(word.slice(0, cut)), ...stems(word.slice(cut))]
      if (pair.every((part) => this.#postings.has(part))) guesses.push({ terms: pair, weight: 0.9 })
    }
    if (word.length < 4 || this.#thesaurus.alternatives([term]) !== undefined) return guesses
    const limit = word.length >= 8 ? 2 : 1
    const near: { word: string; stem: string; edits: number }[] = []
    for (const [known, knownStem] of this.#spellings) {
      if (known.length < 4 || Math.abs(known.length - word.length) > limit || knownStem === term) continue
      const edits = editDistance(word, known, limit)
      if (edits <= limit) near.push({ word: known, stem: knownStem, edits })
    }
    near.sort(
      (a, b) => a.edits - b.edits || this.#frequency(b.stem) - this.#frequency(a.stem) || byCodeUnit(a.word, b.word),
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

  #completions(start: string, weight: number, limit: number): WeightedTerms[] {
    const vocabulary = this.#sortedVocabulary()
    let low = 0
    let high = vocabulary.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (vocabulary[middle]! < start) low = middle + 1
      else high = middle
    }
    const found: WeightedTerms[] = []
    for (let at = low; at < vocabulary.length && found.length < limit; at += 1) {
      const term = vocabulary[at]!
      if (!term.startsWith(start)) break
      if (term !== start) found.push({ terms: [term], weight: weight * Math.sqrt(start.length / term.length) })
    }
    return found
  }

  #sortedVocabulary(): string[] {
    this.#vocabulary ??= [...this.#postings.keys()].filter((term) => !/^\d/.test(term)).toSorted(byCodeUnit)
    return this.#vocabulary
  }

  #frequency(term: string): number {
    return this.#postings.get(term)?.documents.length ?? 0
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

interface SplitName {
  split: Token[]
  whole: Token | undefined
}

const NAME_CACHE_LIMIT = 20_000
const nameCache = new Map<string, SplitName>()

/** Remembered, as the parameters of most tools are called the same. */
function nameOf(text: string): SplitName {
  const known = nameCache.get(text)
  if (known !== undefined) return known
  const split = tokens(text)
  const whole = split.length > 1 ? foldName(text) : ''
  const name = { split, whole: whole === '' ? undefined : { word: '', stem: whole } }
  if (nameCache.size >= NAME_CACHE_LIMIT) nameCache.clear()
  nameCache.set(text, name)
  return name
}

/** The names of several words in a query, folded. */
function compounds(query: string): string[] {
  const names = query.match(/[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)+|[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*/g) ?? []
  return names.map(foldName)
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>()
  for (let at = 0; at < text.length - 1; at += 1) pairs.add(text.slice(at, at + 2))
  return pairs
}
