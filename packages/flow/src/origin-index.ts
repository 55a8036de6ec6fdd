// Where the texts of a session came from: an index of hashes of what the model wrote and what servers returned. Holds
// no text.
import type { Source } from '@sandbridge/core/parts'
import { Fingerprints, MAX_NUMBER } from './fingerprints.ts'
import { contentOf, eachText } from './leaves.ts'
import { ANY_WORD, isTelling, type Looking, Owners, RUN, VALUE } from './owners.ts'
import { readingsOf } from './readings.ts'
import {
  CHARS,
  CHECK,
  FIELD,
  HAS_CAPITAL,
  HAS_DIGIT,
  HAS_LETTER,
  KEY,
  KIND,
  Scanner,
  STRIDE,
  TRAITS,
  TRIPLE,
  WORD,
} from './scan-text.ts'

/** What is known of where a value came from. */
export interface Found {
  /** One for each server, with the first of its tools that returned it. */
  sources: Source[]
  /** Some of it is in what the model wrote. */
  isModels: boolean
  /** Words with letters of which nothing is known. */
  unknownWords: number
  /** Whether nothing is known of a part, which can be a number. */
  hasUnknown: boolean
}

/** What a text has of the results of each server. */
export interface Shown {
  /** Keys of its distinct words with letters. */
  words: Map<string, Set<number>>
  /** Servers of which three words in a row are in it, or a very long word. */
  runs: Set<string>
  /** Distinct words with letters that neither the model wrote nor any server returned. */
  unknownWords: number
}

/** Slots of a third: 2 MB each for results. */
const RESULT_SLOTS = 1 << 18
const WRITTEN_SLOTS = 1 << 14
/** Words with letters in what counts as text. */
const MIN_RUN_WORDS = 2
/** Words of one or two letters that stand in runs. */
const MIN_RUN_LETTERS = 12
/** The first characters of a result are read. What follows may be the origin of any value that is otherwise unknown. */
const MAX_READ_CHARS = 2 << 20

/** Scans one text at a time, for every session. */
const scanner = new Scanner()

export class OriginIndex {
  readonly #sources: Source[] = []
  /** The set of one source, by its server and name. */
  readonly #setOfSources = new Map<string, Map<string, number>>()
  /** Sets of sources by their number: the first is empty. */
  readonly #sets: readonly number[][] = [[]]
  readonly #setNumbers = new Map<string, number>()
  readonly #results: Fingerprints
  readonly #written: Fingerprints
  readonly #owners: Owners
  /** Servers whose results are in the index in part only. */
  readonly partial = new Set<string>()
  /** The set of sources of the result that is being added. */
  #adding = 0

  /** @param isTrusted whether the user trusts the text of a server */
  constructor(
    isTrusted: (server: string) => boolean = () => false,
    { resultSlots = RESULT_SLOTS, writtenSlots = WRITTEN_SLOTS } = {},
  ) {
    const forget = (): void => {
      for (const { server } of this.#sources) this.partial.add(server)
    }
    this.#results = new Fingerprints(resultSlots, (a, b) => this.#merged(a, b), forget)
    this.#written = new Fingerprints(writtenSlots, (a) => a)
    this.#owners = new Owners(this.#written, this.#results, (set) =>
      this.#sets[set]!.every((source) => isTrusted(this.#sources[source]!.server)),
    )
  }

  /** Size in memory, without what is the same for every session. */
  get bytes(): number {
    return this.#results.bytes + this.#written.bytes
  }

  /** Adds texts that the model wrote as data. */
  addWritten(text: string): void {
    for (const reading of readingsOf(text).texts) scanner.scan(reading, this.#takeWritten)
  }

  readonly #takeWritten = (units: Int32Array, end: number): void => {
    const written = this.#written
    for (let at = 0; at < end; at += STRIDE) {
      const kind = units[at + KIND]!
      const key = units[at + KEY]!
      const check = units[at + CHECK]!
      if (kind === TRIPLE) written.add(key ^ RUN, check, 1)
      else if (kind === FIELD || isTelling(units[at + CHARS]!, units[at + TRAITS]!)) {
        written.add(key ^ VALUE, check, 1)
        if (kind === WORD) written.add(key ^ ANY_WORD, check, 1)
      }
    }
  }

  /** Adds words that the model knows, for {@link shown}: its code, and what the bridge told it. */
  addKnown(text: string): void {
    scanner.scan(text, this.#takeKnown)
  }

  readonly #takeKnown = (units: Int32Array, end: number): void => {
    for (let at = 0; at < end; at += STRIDE)
      if (units[at + KIND] === WORD) this.#written.add(units[at + KEY]! ^ ANY_WORD, units[at + CHECK]!, 1)
  }

  /** Whether this is a word, or several that underscores join, and {@link addKnown} had them. */
  isKnownWord(word: string): boolean {
    if (!/^\w+$/.test(word)) return false
    scanner.scan(word)
    for (let at = 0; at < scanner.end; at += STRIDE) {
      const isNew = this.#written.get(scanner.units[at + KEY]! ^ ANY_WORD, scanner.units[at + CHECK]!) === 0
      if (scanner.units[at + KIND] === WORD && isNew) return false
    }
    return true
  }

  /** Adds what a server returned. */
  addResult(source: Source, result: unknown): void {
    this.#adding = this.#setOfSource(source)
    let left = MAX_READ_CHARS
    eachText(contentOf(result), (text, isBytes) => {
      if (left > 0) this.#addText(source, text.length > left ? text.slice(0, left) : text, isBytes)
      else this.partial.add(source.server)
      left -= text.length
      return left + text.length > 0
    })
    if (left < 0) this.partial.add(source.server)
  }

  #addText({ server }: Source, text: string, isBytes: boolean): void {
    const { texts, isPartial } = readingsOf(text)
    if (isPartial || (isBytes && texts.length === 1)) this.partial.add(server)
    for (const reading of isBytes ? texts.slice(1) : texts) scanner.scan(reading, this.#takeResult)
  }

  readonly #takeResult = (units: Int32Array, end: number): void => {
    const results = this.#results
    const number = this.#adding
    for (let at = 0; at < end; at += STRIDE) {
      const kind = units[at + KIND]!
      const key = units[at + KEY]!
      const check = units[at + CHECK]!
      const traits = units[at + TRAITS]!
      if (kind === TRIPLE) results.add(key ^ RUN, check, number)
      else if (kind === FIELD || isTelling(units[at + CHARS]!, traits)) {
        if (kind === WORD && traits & HAS_LETTER) results.add(key ^ ANY_WORD, check, number)
        // A plain word in a longer text is no value.
        if (kind !== WORD || traits & (HAS_CAPITAL | HAS_DIGIT)) results.add(key ^ VALUE, check, number)
      }
    }
  }

  /** Adds texts that may be parts of results which are not in the index. */
  addFromPartial(value: unknown): void {
    eachText(value, (text) => {
      if (!this.originOf(text).hasUnknown) return
      for (const server of this.partial) this.addResult({ server, name: '' }, text)
    })
  }

  /** Finds where a value came from. */
  originOf(value: unknown, how: Looking = {}): Found {
    const found: Found = { sources: [], isModels: false, unknownWords: 0, hasUnknown: false }
    eachText(value, (text) => {
      let unknown = Infinity
      let isUnknown = true
      for (const reading of readingsOf(text).texts) {
        const owned = this.#owners.of(reading, how)
        unknown = Math.min(unknown, owned.unknownWords)
        isUnknown &&= owned.hasUnknown
        found.isModels ||= owned.isModels
        for (const set of owned.sets) for (const source of this.#sets[set]!) addTo(found, this.#sources[source]!)
      }
      found.unknownWords += unknown
      found.hasUnknown ||= isUnknown
    })
    // What was forgotten may have been the origin.
    if (found.hasUnknown) for (const server of this.partial) addTo(found, { server, name: '' })
    return found
  }

  /** Finds what a text that the model reads has of the results of servers. */
  shown(text: string): Shown {
    const shown: Shown = { words: new Map(), runs: new Set(), unknownWords: 0 }
    const letters = new Map<string, number>()
    for (const reading of readingsOf(text).texts) {
      const { unknownWords } = this.#owners.of(reading, {}, (number, isRun, keys, shortWords) => {
        for (const source of this.#sets[number]!) {
          const { server } = this.#sources[source]!
          // Numbers in a row are no text.
          if (isRun && keys.length >= MIN_RUN_WORDS) shown.runs.add(server)
          // A text can have spaces between its letters.
          if (isRun) letters.set(server, (letters.get(server) ?? 0) + shortWords)
          if ((letters.get(server) ?? 0) >= MIN_RUN_LETTERS) shown.runs.add(server)
          const words = shown.words.get(server) ?? new Set()
          for (const key of keys) words.add(key)
          shown.words.set(server, words)
        }
      })
      shown.unknownWords = Math.max(shown.unknownWords, unknownWords)
    }
    return shown
  }

  #setOfSource(source: Source): number {
    const { server, name } = source
    const known = this.#setOfSources.get(server)?.get(name)
    if (known !== undefined) return known
    const made = this.#setOf([this.#sources.push(source) - 1])
    this.#setOfSources.set(server, (this.#setOfSources.get(server) ?? new Map<string, number>()).set(name, made))
    return made
  }

  #setOf(sources: readonly number[]): number {
    const key = sources.join(' ')
    const known = this.#setNumbers.get(key)
    if (known !== undefined) return known
    // More combinations than anyone calls: all of them.
    if (this.#sets.length > MAX_NUMBER) return MAX_NUMBER
    const made = this.#sets.length
    this.#setNumbers.set(key, made)
    ;(this.#sets as number[][]).push(made === MAX_NUMBER ? [...this.#sources.keys()] : [...sources])
    return made
  }

  /** The first source of each server stands for it. */
  #merged(a: number, b: number): number {
    const byServer = new Map<string, number>()
    for (const source of [...this.#sets[a]!, ...this.#sets[b]!]) {
      const { server } = this.#sources[source]!
      if (!byServer.has(server)) byServer.set(server, source)
    }
    return this.#setOf([...byServer.values()].toSorted((one, other) => one - other))
  }
}

/** One source stands for each server. */
function addTo({ sources }: Found, source: Source): void {
  if (!sources.some(({ server }) => server === source.server)) sources.push(source)
}
