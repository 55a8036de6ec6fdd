// Who owns the words of a text, by what the model wrote and what servers returned. Larger units decide first, and the
// model before servers.
import type { Fingerprints } from './fingerprints.ts'
import {
  CHARS,
  CHECK,
  CHUNK,
  FIELD,
  FIRST,
  GROUPS,
  HAS_DIGIT,
  HAS_FOREIGN,
  HAS_LETTER,
  KEY,
  KIND,
  LAST,
  LINE,
  PART,
  Scanner,
  SEGMENT,
  STRIDE,
  TRAITS,
  TRIPLE,
  WORD,
} from './scan-text.ts'

/** Kinds of fingerprints. */
export const VALUE = 0x51_7c_c1_b7
export const ANY_WORD = 0x27_d4_eb_2f
export const RUN = 0x16_56_67_b1
/** Plain numbers of fewer digits say nothing. */
const MIN_DIGITS = 6
const MIN_CHARS = 3
const MIN_FOREIGN_CHARS = 2
/** A word that can say something by itself. */
const MIN_SENTENCE_CHARS = 32
/** A single word is the origin of a value if it is at least so much of what the model did not write. */
const MIN_SHARE = 1 / 3
const UNKNOWN = -1
const WRITTEN = 0
/** Longer texts are rare. */
const MAX_KEPT_WORDS = 1 << 14
const LARGER = [LINE, FIELD, CHUNK, PART, GROUPS, SEGMENT]

export interface Looking {
  /** The value stands for something, so that a short one counts, too, such as an id of one digit. */
  isExact?: boolean
  /** Words that the model wrote as code, or that the bridge told, are known. */
  knowsCode?: boolean
}

/** What is known of a text. */
interface Owned {
  /** Numbers of sets of sources. */
  sets: number[]
  isModels: boolean
  /** Distinct words with letters that nobody is known to have written. */
  unknownWords: number
  /** Any word of which nothing is known and that can say something, also a number. */
  hasUnknown: boolean
}

/** Receives the words of each unit that servers own: their keys, and the number of those of one or two letters. */
type Tell = (set: number, isRun: boolean, words: readonly number[], shortWords: number) => void

const scanner = new Scanner()
/** Of each word of the text that is looked at: who owns it, and where it stands among the units. */
let owners = new Int32Array(1 << 9)
let places = new Int32Array(1 << 9)

/** Looks at one text at a time. */
export class Owners {
  readonly #written: Fingerprints
  readonly #results: Fingerprints
  #owned: Owned = nothing()
  #tell: Tell | undefined
  #isExact = false
  /** Words of the text, and how many of them have no owner. */
  #words = 0
  #left = 0
  /** Numbers of sets of trusted servers that own some of them. */
  readonly #trusted = new Set<number>()
  readonly #isTrusted: (set: number) => boolean

  /** @param isTrusted what such a set of sources says does not hide what others have said */
  constructor(written: Fingerprints, results: Fingerprints, isTrusted: (set: number) => boolean) {
    this.#written = written
    this.#results = results
    this.#isTrusted = isTrusted
  }

  of(text: string, { isExact = false, knowsCode = false }: Looking = {}, tell?: Tell): Owned {
    this.#owned = nothing()
    this.#tell = tell
    this.#isExact = isExact
    this.#trusted.clear()
    this.#words = this.#left = scanner.scan(text)
    const kinds = this.#prepare()
    for (const kind of LARGER) if (kinds & (1 << kind) && this.#isOpen) this.#decideAll(kind)
    this.#decideRuns()
    if (this.#left > 0) this.#decideWords()
    if (this.#trusted.size > 0) this.#decideNumbers()
    if (this.#left > 0) this.#countUnknown(knowsCode)
    this.#tell = undefined
    return this.#owned
  }

  /** @returns the kinds of units of several words, as bits */
  #prepare(): number {
    if (this.#words > owners.length || owners.length > MAX_KEPT_WORDS) {
      owners = new Int32Array(Math.max(2 * this.#words, 1 << 9))
      places = new Int32Array(owners.length)
    }
    owners.fill(UNKNOWN, 0, this.#words)
    const { units, end } = scanner
    let kinds = 0
    for (let at = 0; at < end; at += STRIDE) {
      const first = units[at + FIRST]!
      if (units[at + KIND] === WORD) places[first] = at
      else if (first < units[at + LAST]!) kinds |= 1 << units[at + KIND]!
    }
    return kinds
  }

  /** Whether a word can get another owner. */
  get #isOpen(): boolean {
    return this.#left > 0 || this.#trusted.size > 0
  }

  #decideAll(kind: number): void {
    const { units, end } = scanner
    for (let at = 0; at < end; at += STRIDE)
      if (units[at + KIND] === kind && units[at + FIRST]! < units[at + LAST]!) this.#decide(at, VALUE)
  }

  #decide(at: number, salt: number): void {
    const { units } = scanner
    const key = units[at + KEY]!
    const check = units[at + CHECK]!
    const chars = units[at + CHARS]!
    const traits = units[at + TRAITS]!
    const first = units[at + FIRST]!
    const last = units[at + LAST]!
    if (EMPTY_WORDS.has(key) || !this.#counts(chars, traits)) return
    const hasOpen = isOpen(first, last)
    // The host of an address is no quotation: others have it, too. Nor is an address that is shown a text.
    if (!hasOpen && (units[at + KIND] === SEGMENT || (this.#tell && units[at + KIND] !== FIELD))) return
    if (this.#written.get(key ^ salt, check) !== 0) {
      if (hasOpen) this.#own(WRITTEN, first, last, false)
      return
    }
    const set = this.#results.get(key ^ salt, check)
    if (set !== 0) this.#own(set, first, last, chars >= MIN_SENTENCE_CHARS && (traits & HAS_LETTER) !== 0)
  }

  #counts(chars: number, traits: number): boolean {
    return isTelling(chars, traits) || (this.#isExact && this.#words === 1)
  }

  /** Two runs of three words that overlap are more than chance. */
  #decideRuns(): void {
    const { units, end } = scanner
    for (let at = 0; at < end && (this.#left > 0 || !this.#owned.isModels); at += STRIDE)
      if (units[at + KIND] === TRIPLE && this.#written.get(units[at + KEY]! ^ RUN, units[at + CHECK]!) !== 0)
        this.#own(WRITTEN, units[at + FIRST]!, units[at + LAST]!, false)
    let before = 0
    for (let at = 0; at < end && this.#isOpen; at += STRIDE) {
      if (units[at + KIND] !== TRIPLE) continue
      const first = units[at + FIRST]!
      const last = units[at + LAST]!
      const key = units[at + KEY]! ^ RUN
      const set = this.#results.get(key, units[at + CHECK]!)
      const counts = isOpen(first, last)
        ? before !== 0 || this.#words <= 4
        : before === set && this.#written.get(key, units[at + CHECK]!) === 0
      if (set !== 0 && counts) this.#own(set, before !== 0 && isOpen(first, last) ? first - 1 : first, last, true)
      before = set
    }
  }

  #decideWords(): void {
    const { units } = scanner
    let openChars = 0
    for (let word = 0; word < this.#words; word += 1) {
      if (owners[word] !== UNKNOWN) continue
      const at = places[word]!
      if (this.#written.get(units[at + KEY]! ^ VALUE, units[at + CHECK]!) !== 0) this.#decide(at, VALUE)
      if (owners[word] === UNKNOWN && !EMPTY_WORDS.has(units[at + KEY]!)) openChars += units[at + CHARS]!
    }
    const minChars = this.#tell || this.#isExact ? 0 : openChars * MIN_SHARE
    for (let word = 0; word < this.#words; word += 1)
      if (owners[word] === UNKNOWN && units[places[word]! + CHARS]! >= minChars) this.#decide(places[word]!, VALUE)
    if (!this.#tell) return
    for (let word = 0; word < this.#words; word += 1)
      if (owners[word] === UNKNOWN && isWord(units, places[word]!)) this.#decide(places[word]!, ANY_WORD)
  }

  /** A number that another server said, also in something larger that a trusted one said, such as `tel:` and it. */
  #decideNumbers(): void {
    const { units } = scanner
    for (let word = 0; word < this.#words; word += 1) {
      const at = places[word]!
      const isNumber = units[at + TRAITS]! & HAS_DIGIT && units[at + CHARS]! >= MIN_DIGITS
      if (!isNumber || !this.#trusted.has(owners[word]!)) continue
      if (this.#written.get(units[at + KEY]! ^ VALUE, units[at + CHECK]!) === 0) this.#decide(at, VALUE)
    }
  }

  /** @param knowsCode words that the model wrote as code are known */
  #countUnknown(knowsCode: boolean): void {
    const { units, end } = scanner
    const unknown = new Set<number>()
    for (let word = 0; word < this.#words; word += 1) {
      if (owners[word] !== UNKNOWN) continue
      const at = places[word]!
      const key = units[at + KEY]!
      if (EMPTY_WORDS.has(key) || (knowsCode && this.#written.get(key ^ ANY_WORD, units[at + CHECK]!) !== 0)) continue
      if (isWord(units, at)) unknown.add(key)
      this.#owned.hasUnknown ||= this.#counts(units[at + CHARS]!, units[at + TRAITS]!)
    }
    this.#owned.unknownWords = unknown.size
    for (let at = 0; at < end && !this.#owned.hasUnknown; at += STRIDE)
      if (units[at + KIND] === GROUPS) this.#owned.hasUnknown = isOpen(units[at + FIRST]!, units[at + LAST]!)
  }

  /** Also of words that a trusted server said as a part of something larger: its note can quote a page. */
  #own(by: number, first: number, last: number, isRun: boolean): void {
    const { units } = scanner
    const keys: number[] = []
    let shortWords = 0
    let isNew = false
    for (let word = first; word <= last; word += 1) {
      const before = owners[word]!
      if (before === by || (before !== UNKNOWN && (by === WRITTEN || !this.#trusted.has(before)))) continue
      isNew = true
      if (before === UNKNOWN) {
        owners[word] = by
        this.#left -= 1
      }
      if (!this.#tell) continue
      const at = places[word]!
      if (isWord(units, at)) keys.push(units[at + KEY]!)
      else if (units[at + TRAITS]! & HAS_LETTER && before === UNKNOWN) shortWords += 1
    }
    if (by === WRITTEN) {
      this.#owned.isModels = true
      return
    }
    if (!isNew) return
    if (!this.#owned.sets.includes(by)) {
      this.#owned.sets.push(by)
      if (this.#isTrusted(by)) this.#trusted.add(by)
    }
    this.#tell?.(by, isRun, keys, shortWords)
  }
}

function nothing(): Owned {
  return { sets: [], isModels: false, unknownWords: 0, hasUnknown: false }
}

function isOpen(first: number, last: number): boolean {
  for (let word = first; word <= last; word += 1) if (owners[word] === UNKNOWN) return true
  return false
}

/** Words that are the same in all results. */
const EMPTY_WORDS = new Set<number>()
scanner.scan('true false null none yes no nan undefined mailto tel http https www', (units, end) => {
  for (let at = 0; at < end; at += STRIDE) if (units[at + KIND] === WORD) EMPTY_WORDS.add(units[at + KEY]!)
})

/** Whether the unit, a word, has letters and says something. */
function isWord(units: Int32Array, at: number): boolean {
  const traits = units[at + TRAITS]!
  return (traits & HAS_LETTER) !== 0 && isTelling(units[at + CHARS]!, traits) && !EMPTY_WORDS.has(units[at + KEY]!)
}

export function isTelling(chars: number, traits: number): boolean {
  if ((traits & HAS_LETTER) === 0) return chars >= MIN_DIGITS
  return chars >= (traits & HAS_FOREIGN ? MIN_FOREIGN_CHARS : MIN_CHARS)
}
