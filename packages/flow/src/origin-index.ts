// Where a session's texts came from: hashes of what the model wrote and servers returned. Holds no text.
import type { Source } from '@sandbridge/core/parts'
import { INVISIBLE } from '@sandbridge/core/util/text'
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
  /** Servers that have each said all of it; undefined where nobody has said any. */
  toldBy: string[] | undefined
  /** Some of it is in what the model wrote. */
  isModels: boolean
  /** Whether nothing is known of a part, which can be a number. */
  hasUnknown: boolean
}

/** Letter count of each word of a text that the model did not write, by the word's key. */
export type Words = Map<number, number>

/** What a text has that the model did not write. */
export interface Shown {
  /** Words with letters that servers have returned. */
  ofServers: Map<string, Words>
  /** Others. */
  unknown: Words
}

/** Slots of a third: 2 MB each for results. */
const RESULT_SLOTS = 1 << 18
const WRITTEN_SLOTS = 1 << 14
/** The first characters of a result are read. */
const MAX_READ_CHARS = 3 << 19

/** Of all texts in one turn of the event loop: others choose their sum. Nothing is known of the rest. */
const MAX_TURN_CHARS = 3 << 19
/** Looking for the origin of a character takes so many times longer than adding it, and a text as long as many. */
const ARGUMENT_COST = 2
const TEXT_COST = 16

/** More of these in a value can spell a text. */
const MAX_HIDDEN = 3

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
  /** The set of sources of the result that is being added. */
  #adding = 0
  #left = MAX_TURN_CHARS

  /** @param isTrusted whether the user trusts the text of a server */
  constructor(
    isTrusted: (server: string) => boolean = () => false,
    { resultSlots = RESULT_SLOTS, writtenSlots = WRITTEN_SLOTS } = {},
  ) {
    this.#results = new Fingerprints(resultSlots, (a, b) => this.#merged(a, b))
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
    for (const reading of readingsOf(text)) scanner.scan(reading, this.#takeWritten)
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
      const read = isBytes ? '' : this.#readable(text.slice(0, left))
      for (const reading of readingsOf(read)) scanner.scan(reading, this.#takeResult)
      left -= text.length
      return left > 0
    })
  }

  /** The beginning of a text, as much as may still be read in this turn of the event loop. */
  #readable(text: string, cost = 1): string {
    if (this.#left === MAX_TURN_CHARS) setImmediate(() => (this.#left = MAX_TURN_CHARS))
    const read = text.slice(0, Math.max(0, this.#left) / cost)
    this.#left -= cost * read.length
    return read
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

  /** Finds where a value came from. */
  originOf(value: unknown, how: Looking = {}): Found {
    const found: Found = { sources: [], toldBy: undefined, isModels: false, hasUnknown: false }
    eachText(value, (text) => {
      const read = this.#readable(text, ARGUMENT_COST)
      let isUnknown = true
      // What is not seen is left out of readings, and nobody has said it.
      if ((read.match(INVISIBLE)?.length ?? 0) > MAX_HIDDEN) found.hasUnknown = true
      for (const reading of readingsOf(read)) {
        const owned = this.#owners.of(reading, how)
        isUnknown &&= owned.hasUnknown
        found.isModels ||= owned.isModels
        for (const set of owned.sets) {
          const sources = this.#sets[set]!.map((source) => this.#sources[source]!)
          for (const source of sources) addTo(found, source)
          // The last set stands for many.
          const said = set === MAX_NUMBER ? [] : sources.map(({ server }) => server)
          found.toldBy = found.toldBy?.filter((server) => said.includes(server)) ?? said
        }
      }
      found.hasUnknown ||= isUnknown || read.length < text.length
      this.#left -= TEXT_COST
      if (this.#left <= 0) found.hasUnknown = true
      return this.#left > 0
    })
    return found
  }

  /** Finds whose words the model reads in a text. */
  shown(text: string, how: Looking = {}): Shown {
    const shown: Shown = { ofServers: new Map(), unknown: new Map() }
    // Its escapes are read as a model reads them.
    this.#owners.of(readingsOf(text).at(-1)!, how, (set, key, chars) => {
      if (set === 0) shown.unknown.set(key, chars)
      for (const source of this.#sets[set]!) {
        const { server } = this.#sources[source]!
        const words = shown.ofServers.get(server) ?? new Map<number, number>()
        shown.ofServers.set(server, words.set(key, chars))
      }
    })
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
