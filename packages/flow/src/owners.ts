// Who owns the words of a text. Larger units decide first, and the model before servers.
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
/** Words that say nothing each can spell an address together. */
const MIN_SHORT_CHARS = 6
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
  /** It only quotes others: single words of it are the bridge's. */
  isQuote?: boolean
}

/** What is known of a text. */
interface Owned {
  /** Numbers of sets of sources. */
  sets: number[]
  isModels: boolean
  /** Any word of which nothing is known and that can say something, also a number. */
  hasUnknown: boolean
}

/** Receives each word with letters that the model did not write, and whose it is: 0 for nobody's. */
type Tell = (set: number, key: number, chars: number) => void

const scanner = new Scanner()
/** Of each word of the text that is looked at: who owns it, and where it stands among the units. */
let owners = new Int32Array(1 << 9)
let places = new Int32Array(1 << 9)

/** Looks at one text at a time. */
export class Owners {
  readonly #written: Fingerprints
  readonly #results: Fingerprints
  #owned: Owned = nothing()
  #isShown = false
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

  of(text: string, { isExact = false, knowsCode = false, isQuote = false }: Looking = {}, tell?: Tell): Owned {
    this.#owned = nothing()
    this.#isShown = tell !== undefined
    this.#isExact = isExact
    this.#trusted.clear()
    this.#words = this.#left = scanner.scan(text)
    const kinds = this.#prepare()
    for (const kind of LARGER) if (kinds & (1 << kind) && this.#isOpen) this.#decideAll(kind)
    this.#decideRuns()
    if (this.#left > 0 && !isQuote) this.#decideWords()
    if (this.#trusted.size > 0) this.#decideNumbers()
    if (this.#left > 0) this.#findUnknown(knowsCode)
    if (tell) this.#tellAll(tell, isQuote)
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
    if (!hasOpen && (units[at + KIND] === SEGMENT || (this.#isShown && units[at + KIND] !== FIELD))) return
    if (this.#written.get(key ^ salt, check) !== 0) {
      if (hasOpen) this.#own(WRITTEN, first, last)
      return
    }
    const set = this.#results.get(key ^ salt, check)
    if (set !== 0) this.#own(set, first, last)
  }

  #counts(chars: number, traits: number): boolean {
    return isTelling(chars, traits) || (this.#isExact && this.#words === 1)
  }

  /** Two runs of three words that overlap are more than chance. */
  #decideRuns(): void {
    const { units, end } = scanner
    for (let at = 0; at < end && (this.#left > 0 || !this.#owned.isModels); at += STRIDE)
      if (units[at + KIND] === TRIPLE && this.#written.get(units[at + KEY]! ^ RUN, units[at + CHECK]!) !== 0)
        this.#own(WRITTEN, units[at + FIRST]!, units[at + LAST]!)
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
      if (set !== 0 && counts) this.#own(set, before !== 0 && isOpen(first, last) ? first - 1 : first, last)
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
    const minChars = this.#isShown || this.#isExact ? 0 : openChars * MIN_SHARE
    for (let word = 0; word < this.#words; word += 1)
      if (owners[word] === UNKNOWN && units[places[word]! + CHARS]! >= minChars) this.#decide(places[word]!, VALUE)
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
  #findUnknown(knowsCode: boolean): void {
    const { units, end } = scanner
    let shortChars = 0
    for (let word = 0; word < this.#words && !this.#owned.hasUnknown; word += 1) {
      if (owners[word] !== UNKNOWN) continue
      const at = places[word]!
      if (EMPTY_WORDS.has(units[at + KEY]!) || (knowsCode && this.#isOfCode(at))) continue
      shortChars += units[at + CHARS]!
      const counts = this.#counts(units[at + CHARS]!, units[at + TRAITS]!)
      this.#owned.hasUnknown = counts || (this.#isExact && shortChars >= MIN_SHORT_CHARS)
    }
    for (let at = 0; at < end && !this.#owned.hasUnknown; at += STRIDE)
      if (units[at + KIND] === GROUPS) this.#owned.hasUnknown = isOpen(units[at + FIRST]!, units[at + LAST]!)
  }

  #isOfCode(at: number): boolean {
    return this.#written.get(scanner.units[at + KEY]! ^ ANY_WORD, scanner.units[at + CHECK]!) !== 0
  }

  #tellAll(tell: Tell, isQuote: boolean): void {
    const { units } = scanner
    for (let word = 0; word < this.#words; word += 1) {
      const at = places[word]!
      const key = units[at + KEY]!
      let by = owners[word]!
      if (by === WRITTEN || (units[at + TRAITS]! & HAS_LETTER) === 0 || EMPTY_WORDS.has(key)) continue
      if (by === UNKNOWN) {
        if (isQuote || this.#isOfCode(at)) continue
        // A single word of a trusted server does not make a text its own.
        const set = this.#results.get(key ^ ANY_WORD, units[at + CHECK]!)
        by = this.#isTrusted(set) ? 0 : set
      }
      tell(by, key, units[at + CHARS]!)
    }
  }

  /** Also of words that a trusted server said as a part of something larger: its note can quote a page. */
  #own(by: number, first: number, last: number): void {
    let isNew = false
    for (let word = first; word <= last; word += 1) {
      const before = owners[word]!
      if (before === by || (before !== UNKNOWN && (by === WRITTEN || !this.#trusted.has(before)))) continue
      isNew = true
      owners[word] = by
      if (before === UNKNOWN) this.#left -= 1
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
  }
}

function nothing(): Owned {
  return { sets: [], isModels: false, hasUnknown: false }
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

export function isTelling(chars: number, traits: number): boolean {
  if ((traits & HAS_LETTER) === 0) return chars >= MIN_DIGITS
  return chars >= (traits & HAS_FOREIGN ? MIN_FOREIGN_CHARS : MIN_CHARS)
}
