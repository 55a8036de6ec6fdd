// Finds tools by words. Field-weighted term scores (after BM25F: Robertson, Zaragoza, "The Probabilistic Relevance Framework", 2009)
// over stems, where every word or phrase of the query is a concept: itself, its synonyms, its completions, its likely misspellings.
// The same documents and the same query give the same answer, in whatever order the documents came. Pure.
import { editDistance } from './did-you-mean.ts'
import { byCodeUnit, foldName } from './python-name.ts'
import { Thesaurus } from './thesaurus.ts'
import { stem, stems, words } from './tokenize.ts'

/** What is searched of one tool. */
export interface SearchDocument {
  server: string
  name: string
  title: string
  /** The first sentence of the description, and what follows. */
  summary: string
  description: string
  parameters: string
  parameterDescriptions: string
  /** How safe the tool is: 1 reads only, 0 unknown, -1 destroys. Decides between near-equals. */
  safety: number
}

export interface Hit<T> {
  item: T
  score: number
}

interface Field {
  key: 'name' | 'title' | 'summary' | 'description' | 'parameters' | 'parameterDescriptions' | 'server'
  weight: number
  /** Length in words from which on a field counts less. */
  pivot: number
  /** Does it hold names, which are also looked up whole? */
  isNames?: boolean
  /** Longest text read, in characters: the rest of a long description is noise, and time. */
  limit: number
}

const FIELDS: Field[] = [
  { key: 'name', weight: 6, pivot: 3, limit: 160, isNames: true },
  { key: 'title', weight: 3, pivot: 4, limit: 160 },
  { key: 'summary', weight: 3, pivot: 12, limit: 240 },
  { key: 'description', weight: 1, pivot: 60, limit: 500 },
  { key: 'parameters', weight: 1.6, pivot: 8, limit: 400, isNames: true },
  { key: 'parameterDescriptions', weight: 0.5, pivot: 60, limit: 500 },
  { key: 'server', weight: 2, pivot: 3, limit: 80 },
]

const SATURATION = 3
/** How much a second way to say the same adds to the best one. */
const OTHER_WAYS = 0.2
const STOP_WORDS = new Set(
  (
    'a an the of to in on at for with by from as into onto about and or but if so than then that this these those there it its is are was ' +
    'were be been being am i me my mine we us our you your he she they them their his her do does did done can could would should will ' +
    'shall may might must have has had having please want wanted need needed like let lets how what which who whom whose when where why ' +
    'some any each just also too very really now out up off over under via using use used someone something somebody anything thing things ' +
    'tool tools way'
  ).split(' '),
)

interface Posting {
  documents: number[]
  weights: number[]
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
  readonly #documents: SearchDocument[] = []
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
    this.#documents.push(document)
    this.#folded.push(foldName(document.name))
    const weights = new Map<string, number>()
    for (const field of FIELDS) {
      const text = document[field.key].slice(0, field.limit)
      const terms = stems(text)
      if (terms.length === 0) continue
      const share = field.weight / (0.65 + (0.35 * terms.length) / field.pivot)
      if (field.isNames) for (const compound of compounds(text)) weights.set(compound, field.weight)
      for (const term of terms) {
        const before = weights.get(term)
        // A word said again in the same text counts little more.
        weights.set(term, before === undefined ? share : before + share * 0.3)
      }
    }
    this.#learnSpellings(document)
    for (const [term, weight] of weights) {
      const posting = this.#postings.get(term)
      if (posting === undefined) {
        this.#postings.set(term, { documents: [id], weights: [weight] })
        this.#vocabulary = undefined
      } else {
        posting.documents.push(id)
        posting.weights.push(weight)
      }
    }
  }

  #learnSpellings(document: SearchDocument): void {
    for (const text of [document.name, document.title, document.summary, document.parameters]) {
      for (const word of words(text.slice(0, 400))) {
        if (word.length >= 4 && !this.#spellings.has(word)) this.#spellings.set(word, stem(word))
      }
    }
  }

  /**
   * The best `limit` items, best first; never none while there are any.
   * One server gets at most all but one of the places when another has something to offer.
   * @param accepts which items count at all
   */
  search(query: string, limit: number, accepts: (item: T) => boolean = () => true): Hit<T>[] {
    const scores = this.#score(query)
    const found: { id: number; score: number }[] = []
    for (const [id, score] of scores) {
      if (score > 0 && accepts(this.#items[id]!)) found.push({ id, score: this.#adjusted(id, score) })
    }
    if (found.length === 0) found.push(...this.#anything(query, accepts))
    found.sort((a, b) => b.score - a.score || this.#compare(a.id, b.id))
    return this.#spread(found, limit).map(({ id, score }) => ({ item: this.#items[id]!, score }))
  }

  #score(query: string): Map<number, number> {
    const concepts = this.#concepts(query)
    const scores = new Map<number, number>()
    const covered = new Map<number, number>()
    let total = 0
    for (const concept of concepts) {
      const best = new Map<number, number>()
      for (const way of concept.ways) this.#collect(way, best)
      const own = concept.own === undefined ? undefined : this.#postings.get(concept.own)
      const rarity = this.#rarity(own === undefined ? best.size : Math.max(own.documents.length, best.size / 3))
      total += rarity
      for (const [id, weight] of best) {
        const strength = weight / (SATURATION + weight)
        scores.set(id, (scores.get(id) ?? 0) + rarity * strength)
        covered.set(id, (covered.get(id) ?? 0) + rarity * Math.min(1, strength * 2))
      }
    }
    for (const [id, score] of scores) {
      const coverage = (covered.get(id) ?? 0) / (total || 1)
      scores.set(id, score * (0.5 + 0.5 * coverage))
    }
    const folded = foldName(query)
    if (folded !== '') {
      for (const [id, name] of this.#folded.entries()) if (name === folded) scores.set(id, (scores.get(id) ?? 0) + 100)
    }
    return scores
  }

  /** For each document, the best of a concept's ways; all terms of a way must be in the document. */
  #collect(way: WeightedTerms, best: Map<number, number>): void {
    const postings = way.terms.map((term) => this.#postings.get(term))
    const first = postings[0]
    if (first === undefined || postings.includes(undefined)) return
    if (postings.length === 1) {
      for (const [index, id] of first.documents.entries()) {
        raise(best, id, first.weights[index]! * way.weight)
      }
      return
    }
    const sums = new Map<number, { count: number; least: number }>()
    for (const posting of postings) {
      for (const [index, id] of posting!.documents.entries()) {
        const before = sums.get(id)
        const weight = posting!.weights[index]!
        if (before === undefined) sums.set(id, { count: 1, least: weight })
        else {
          before.count += 1
          before.least = Math.min(before.least, weight)
        }
      }
    }
    for (const [id, { count, least }] of sums) {
      if (count === postings.length) raise(best, id, least * way.weight)
    }
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
    this.#vocabulary ??= [...this.#postings.keys()].toSorted(byCodeUnit)
    return this.#vocabulary
  }

  #frequency(term: string): number {
    return this.#postings.get(term)?.documents.length ?? 0
  }

  #adjusted(id: number, score: number): number {
    return score * (1 + 0.02 * this.#documents[id]!.safety)
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
function raise(best: Map<number, number>, id: number, weight: number): void {
  const before = best.get(id) ?? 0
  best.set(id, Math.max(before, weight) + Math.min(before, weight) * OTHER_WAYS)
}

/** The names of several words in a text, folded: `toRevision` → `torevision`. */
function compounds(text: string): string[] {
  return text
    .split(/[\s,;()]+/)
    .filter((name) => /[\p{Ll}\p{N}]\p{Lu}|[\p{L}\p{N}][_-][\p{L}\p{N}]/u.test(name))
    .map(foldName)
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>()
  for (let at = 0; at < text.length - 1; at += 1) pairs.add(text.slice(at, at + 2))
  return pairs
}
