// Finds in a text what may be found again elsewhere: words, and what is made of them: addresses and identifiers, short
// fields and lines, numbers in groups, and any three words in a row. Only letters and digits count, without case, so a
// value is the same with other spaces, punctuation or capitals. Everything is told as hashes.

import { randomInt } from 'node:crypto'
import { asciiDigit, FOREIGN_DIGIT } from '@sandbridge/shared/ascii-digit.ts'

/** What a unit is; the smaller ones lie in the larger ones. */
export const WORD = 0
/** Of an address: a host, a path, a parameter. */
export const SEGMENT = 1
/** Words with digits that only spaces separate, as in account numbers. */
export const GROUPS = 2
/** Text without a space, such as an address or an identifier. */
export const CHUNK = 3
/** Text between commas, quotes, brackets, colons or tabs. */
export const FIELD = 4
export const LINE = 5
/** Three words in a row, as they occur in longer text. */
export const TRIPLE = 6
/** Of an address: what stands before or after `?`, `&`, `=`, `#` and its scheme, such as the one in `mailto:`. */
export const PART = 7
export type Kind = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

/** The letters of a word. */
export const HAS_CAPITAL = 1
export const HAS_DIGIT = 2
export const HAS_LETTER = 4
export const HAS_FOREIGN = 8

/** Where the parts of a unit stand in {@link Scanner.units}, which has {@link STRIDE} numbers for each. */
export const STRIDE = 8
export const KIND = 0
export const KEY = 1
export const CHECK = 2
export const CHARS = 3
export const TRAITS = 4
/** The numbers of its first and last word. */
export const FIRST = 5
export const LAST = 6

const MAX_FIELD_WORDS = 8
const MAX_UNIT_CHARS = 96
const MAX_SHARED_CHARS = 3

const JOINER = 0
const LOWER = 1
const CAPITAL = 2
const DIGIT = 3
const SPACE = 4
const SEGMENT_END = 5
const FIELD_END = 6
const LINE_END = 7
const APOSTROPHE = 8
/** Ends a field when a space follows. */
const SENTENCE_END = 9
const COLON = 10
const FOREIGN = 11
const IDEOGRAPH = 12
const PART_END = 13

const ASCII = new Uint8Array(128)
for (let code = 0; code < 128; code += 1) {
  const char = String.fromCodePoint(code)
  ASCII[code] = /[a-z]/.test(char)
    ? LOWER
    : /[A-Z]/.test(char)
      ? CAPITAL
      : /\d/.test(char)
        ? DIGIT
        : /[\n\r]/.test(char)
          ? LINE_END
          : char === ' '
            ? SPACE
            : /[/@%]/.test(char)
              ? SEGMENT_END
              : /[?&=#]/.test(char)
                ? PART_END
                : /[,;|"`<>()[\]{}\t]/.test(char)
                  ? FIELD_END
                  : char === "'"
                    ? APOSTROPHE
                    : /[.!]/.test(char)
                      ? SENTENCE_END
                      : char === ':'
                        ? COLON
                        : JOINER
}

/** Classes of other characters, as they are met; 255 for unknown. */
const others = new Uint8Array(0x1_00_00).fill(255)

function classOfOther(code: number): number {
  const known = others[code]!
  if (known !== 255) return known
  const char = String.fromCharCode(code)
  // Signs may stand for letters, as Braille does; frames of tables do not.
  const isSign = /(?![\u2500-\u259f\u00a0-\u00ff])\p{So}/u.test(char)
  const isIdeograph = (code >= 0x30_40 && code <= 0x9f_ff) || (code >= 0xac_00 && code <= 0xd7_a3) || isSign
  const found = isIdeograph
    ? IDEOGRAPH
    : /[\p{L}\p{N}\p{M}]/u.test(char) || (code >= 0xd8_00 && code <= 0xdf_ff)
      ? FOREIGN
      : /\s/u.test(char)
        ? SPACE
        : /[\p{Pi}\p{Pf}\u3001\u3002]/u.test(char)
          ? FIELD_END
          : JOINER
  others[code] = found
  return found
}

/**
 * Hashes are polynomials of the letters at a secret point, modulo a prime. Modulo a power of two, there are pairs of
 * texts that have the same hash at every point (Thue-Morse), and a server could prepare them.
 */
const MODULUS = 2 ** 31 - 1
/** A hash times a point is a whole number that a double holds. */
const MAX_POINT = 2 ** 21
const P1 = randomInt(2 ** 16, MAX_POINT)
const P2 = randomInt(2 ** 16, MAX_POINT)
const POWERS1 = powers(P1)
const POWERS2 = powers(P2)
/** A polynomial of more letters could be zero at many points. A power of two, and more than the letters of a unit. */
const MAX_DEGREE = 128

/** The same modulo {@link MODULUS}, and little more than it. @param of below 2 ** 53 */
function reduced(of: number): number {
  return of - ((of * 2 ** -31) | 0) * MODULUS
}

/** From 0 to below {@link MODULUS}. */
function exact(of: number): number {
  return of < MODULUS ? of : of - MODULUS
}

function times(one: number, other: number): number {
  const high = other >>> 16
  return exact(reduced(reduced(one * high) * 2 ** 16 + one * (other & 0xff_ff)))
}

function powers(of: number): Int32Array {
  const all = new Int32Array(MAX_UNIT_CHARS + 1)
  all[0] = 1
  for (let at = 1; at < all.length; at += 1) all[at] = times(all[at - 1]!, of)
  return all
}

/** What is open at a position: where it began, as counted there. */
class Open {
  isOpen = false
  key = 0
  check = 0
  chars = 0
  traits = 0
  word = 0
}

const MIN_UNITS = 1 << 9
/** Of more units, the memory is given back. */
const MAX_KEPT_UNITS = 1 << 14

/** Scans one text at a time. */
export class Scanner {
  /** The units of the text that was scanned last, one after the other. */
  units = new Int32Array(MIN_UNITS * STRIDE)
  /** How many numbers of them are in use. */
  end = 0
  readonly #segment = new Open()
  readonly #part = new Open()
  readonly #chunk = new Open()
  readonly #groups = new Open()
  readonly #field = new Open()
  readonly #line = new Open()
  /** Ends of {@link #segment}: `www.` or `mail.` may stand before a host. */
  readonly #tail = new Open()
  /** What was counted where the last four words began. */
  readonly #starts = new Int32Array(4 * 3)
  #lastKey = 0
  #lastCheck = 0
  #keyBefore = 0
  #checkBefore = 0
  /** All words so far as one: what they have in common with those at a unit's start is taken off at its end. */
  #key = 0
  #check = 0
  #chars = 0
  #word = 0
  #segments = 0
  #partSegments = 0
  #fields = 0
  #take: ((units: Int32Array, end: number) => void) | undefined

  /**
   * @param take receives the units in portions, if they need not be kept
   * @returns the number of words
   */
  scan(given: string, take?: (units: Int32Array, end: number) => void): number {
    const text = isAscii(given)
      ? given
      : given
          .normalize('NFKD')
          .replaceAll(/\p{M}+/gu, '')
          .replaceAll(FOREIGN_DIGIT, asciiDigit)
          .normalize('NFC')
    if (this.units.length > MAX_KEPT_UNITS * STRIDE) this.units = new Int32Array(MIN_UNITS * STRIDE)
    this.end = 0
    this.#take = take
    this.#key = this.#check = this.#chars = this.#word = 0
    let key = 0
    let check = 0
    let chars = 0
    let traits = 0
    const { length } = text
    for (let at = 0; at <= length; at += 1) {
      const code = at < length ? text.charCodeAt(at) : 10
      let type = code < 128 ? ASCII[code]! : classOfOther(code)
      if ((type <= DIGIT && type !== JOINER) || type === FOREIGN) {
        const folded = type === CAPITAL ? code + 32 : type === FOREIGN ? folding(code) : code
        key = reduced(key * P1 + folded)
        check = reduced(check * P2 + folded)
        chars += 1
        if (chars % MAX_DEGREE === 0) {
          key = mixed(exact(key)) >>> 1
          check = mixed(exact(check)) >>> 1
        }
        traits |= type === DIGIT ? HAS_DIGIT : HAS_LETTER
        if (folded !== code) traits |= HAS_CAPITAL
        if (type === FOREIGN) traits |= HAS_FOREIGN
        continue
      }
      if (type === APOSTROPHE) {
        // An apostrophe in a word, as in don't, ends nothing.
        if (chars > 0 && isLetter(text, at + 1)) continue
        type = FIELD_END
      }
      if (chars > 0) {
        this.#endWord(exact(key), exact(check), chars, traits)
        key = check = chars = traits = 0
      }
      if (type === IDEOGRAPH) {
        this.#endWord(code, exact(reduced(code * P2)), 1, HAS_LETTER | HAS_FOREIGN)
        continue
      }
      if (type === JOINER) continue
      if (type === SENTENCE_END || type === COLON) {
        if (isSpace(text, at + 1)) type = FIELD_END
        else if (type === COLON) type = PART_END
        else continue
      }
      if (this.#segment.isOpen) this.#endSegment()
      if (type === SEGMENT_END) continue
      if (this.#part.isOpen) this.#endPart(type !== PART_END)
      if (type === PART_END) continue
      if (this.#chunk.isOpen) this.#endChunk()
      if (type === SPACE) continue
      if (this.#groups.isOpen && !isThousands(text, at)) this.#endGroups()
      if (this.#field.isOpen) this.#endField()
      if (type === LINE_END && this.#line.isOpen) this.#endLine()
    }
    if (take && this.end > 0) take(this.units, this.end)
    return this.#word
  }

  #endWord(key: number, check: number, chars: number, traits: number): void {
    const word = this.#word
    const wordKey = mixed(key)
    const wordCheck = mixed(check)
    this.#tell(WORD, wordKey, wordCheck, chars, traits, word, word)
    this.#extend(this.#segment, traits)
    this.#extend(this.#chunk, traits)
    this.#extend(this.#field, traits)
    this.#extend(this.#line, traits)
    if (traits & HAS_DIGIT) this.#extend(this.#groups, traits)
    else if (this.#groups.isOpen) this.#endGroups()
    this.#word = word + 1
    this.#chars += chars
    this.#starts.set([this.#key, this.#check, this.#chars - chars], (word & 3) * 3)
    if (chars <= MAX_UNIT_CHARS) {
      this.#key = exact(times(this.#key, POWERS1[chars]!) + key)
      this.#check = exact(times(this.#check, POWERS2[chars]!) + check)
    }
    if (word >= 2) {
      const tripleKey = mixed(Math.imul(Math.imul(this.#keyBefore, P1) + this.#lastKey, P1) + wordKey)
      const tripleCheck = mixed(Math.imul(Math.imul(this.#checkBefore, P2) + this.#lastCheck, P2) + wordCheck)
      this.#tell(TRIPLE, tripleKey, tripleCheck, chars, traits, word - 2, word)
    }
    this.#keyBefore = this.#lastKey
    this.#checkBefore = this.#lastCheck
    this.#lastKey = wordKey
    this.#lastCheck = wordCheck
  }

  #extend(unit: Open, traits: number): void {
    if (unit.isOpen) {
      unit.traits |= traits
      return
    }
    unit.isOpen = true
    unit.key = this.#key
    unit.check = this.#check
    unit.chars = this.#chars
    unit.traits = traits
    unit.word = this.#word
  }

  #endSegment(): void {
    const segment = this.#segment
    if (this.#wordsOf(segment) > 1) this.#tellWhole(SEGMENT, segment)
    for (let words = 2; words <= 3 && words < this.#wordsOf(segment); words += 1) this.#tellTail(segment, words)
    this.#segments += 1
    segment.isOpen = false
    this.#partSegments += 1
    const part = this.#part
    if (part.isOpen) part.traits |= segment.traits
    else {
      part.isOpen = true
      part.key = segment.key
      part.check = segment.check
      part.chars = segment.chars
      part.traits = segment.traits
      part.word = segment.word
    }
  }

  #tellTail({ traits }: Open, words: number): void {
    const tail = this.#tail
    tail.word = this.#word - words
    const at = (tail.word & 3) * 3
    tail.key = this.#starts[at]!
    tail.check = this.#starts[at + 1]!
    tail.chars = this.#starts[at + 2]!
    tail.traits = traits
    // Many hosts share an end such as `co.uk`.
    const first = this.#starts[((tail.word + 1) & 3) * 3 + 2]! - tail.chars
    if (first > MAX_SHARED_CHARS) this.#tellWhole(SEGMENT, tail)
  }

  /** @param endsChunk it is told as one, unless other parts are before it */
  #endPart(endsChunk: boolean): void {
    const isChunk = endsChunk && this.#part.word === this.#chunk.word
    if (this.#partSegments > 1 && !isChunk) this.#tellWhole(PART, this.#part)
    this.#partSegments = 0
    this.#part.isOpen = false
  }

  #endChunk(): void {
    if (this.#segments > 1) this.#tellWhole(CHUNK, this.#chunk)
    this.#segments = 0
    this.#chunk.isOpen = false
  }

  #endGroups(): void {
    if (this.#wordsOf(this.#groups) > 1) this.#tellWhole(GROUPS, this.#groups)
    this.#groups.isOpen = false
  }

  #endField(): void {
    if (this.#wordsOf(this.#field) <= MAX_FIELD_WORDS) this.#tellWhole(FIELD, this.#field)
    this.#fields += 1
    this.#field.isOpen = false
  }

  #endLine(): void {
    if (this.#fields > 1 && this.#wordsOf(this.#line) <= 2 * MAX_FIELD_WORDS) this.#tellWhole(LINE, this.#line)
    this.#fields = 0
    this.#line.isOpen = false
  }

  #wordsOf(unit: Open): number {
    return this.#word - unit.word
  }

  #tellWhole(kind: Kind, unit: Open): void {
    const chars = this.#chars - unit.chars
    if (chars > MAX_UNIT_CHARS) return
    const key = exact(this.#key - times(unit.key, POWERS1[chars]!) + MODULUS)
    const check = exact(this.#check - times(unit.check, POWERS2[chars]!) + MODULUS)
    this.#tell(kind, mixed(key), mixed(check), chars, unit.traits, unit.word, this.#word - 1)
  }

  #tell(kind: Kind, key: number, check: number, chars: number, traits: number, first: number, last: number): void {
    const at = this.end
    if (at === this.units.length) {
      this.#makeRoom()
      this.#tell(kind, key, check, chars, traits, first, last)
      return
    }
    const { units } = this
    units[at + KIND] = kind
    units[at + KEY] = key
    units[at + CHECK] = check
    units[at + CHARS] = chars
    units[at + TRAITS] = traits
    units[at + FIRST] = first
    units[at + LAST] = last
    this.end = at + STRIDE
  }

  #makeRoom(): void {
    if (this.#take) {
      this.#take(this.units, this.end)
      this.end = 0
      return
    }
    const larger = new Int32Array(this.units.length * 2)
    larger.set(this.units)
    this.units = larger
  }
}

/** Spreads the bits of a hash (the end of MurmurHash3). */
function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16)
  bits = Math.imul(bits, 0x85_eb_ca_6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2_b2_ae_35)
  return bits ^ (bits >>> 16)
}

function folding(code: number): number {
  const lower = String.fromCharCode(code).toLowerCase()
  return lower.length === 1 ? lower.charCodeAt(0) : code
}

function isAscii(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[^\0-\x7F]/.test(text)
}

function isLetter(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code < 128 && (ASCII[code] === LOWER || ASCII[code] === CAPITAL)
}

/** A comma or apostrophe between the digits of a number: `1,234,567`. */
function isThousands(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code !== 44 && code !== 39) return false
  const hasDigit = (place: number): boolean => isDigit(text.charCodeAt(place))
  return hasDigit(at - 1) && [1, 2, 3].every((more) => hasDigit(at + more)) && !hasDigit(at + 4)
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57

function isSpace(text: string, at: number): boolean {
  if (at >= text.length) return true
  const code = text.charCodeAt(at)
  const type = code < 128 ? ASCII[code]! : classOfOther(code)
  return type === SPACE || type === LINE_END || type === FIELD_END
}
