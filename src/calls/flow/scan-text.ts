// Finds in a text what may be found again elsewhere: words, and what is made of them: addresses and identifiers, short
// fields and lines, numbers in groups, and any three words in a row. Only letters and digits count, without case, so a
// value is the same with other spaces, punctuation or capitals. Everything is told as hashes. Pure.

/** What a unit is; the smaller ones lie in the larger ones. */
export const WORD = 0
/** Of an address: a host, a path, a parameter. */
export const SEGMENT = 1
/** Words with digits that only spaces separate, as in account numbers. */
export const GROUPS = 2
/** What no space separates: an address, an identifier. */
export const CHUNK = 3
/** What commas, quotes, brackets, colons or tabs separate. */
export const FIELD = 4
export const LINE = 5
/** Three words in a row, as they occur in longer text. */
export const TRIPLE = 6
export type Kind = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** The letters of a word. */
export const HAS_CAPITAL = 1
export const HAS_DIGIT = 2
export const HAS_LETTER = 4
export const HAS_FOREIGN = 8

/** Receives what is found. `first` and `last` number the words of the unit. */
export interface Sink {
  unit(kind: Kind, key: number, check: number, chars: number, traits: number, first: number, last: number): void
}

const MAX_FIELD_WORDS = 8
const MAX_UNIT_CHARS = 96

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
            : /[/?&=#@%]/.test(char)
              ? SEGMENT_END
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
  const isIdeograph = (code >= 0x30_40 && code <= 0x9f_ff) || (code >= 0xac_00 && code <= 0xd7_a3)
  const isBraille = code > 0x28_00 && code <= 0x28_ff
  const found = isIdeograph
    ? IDEOGRAPH
    : /[\p{L}\p{N}\p{M}]/u.test(char) || (code >= 0xd8_00 && code <= 0xdf_ff) || isBraille
      ? FOREIGN
      : /\s/u.test(char)
        ? SPACE
        : /[\p{Pi}\p{Pf}\u3001\u3002]/u.test(char)
          ? FIELD_END
          : JOINER
  others[code] = found
  return found
}

const P1 = 0x01_00_01_93
const P2 = 0x9e_37_79_b1
const POWERS1 = powers(P1)
const POWERS2 = powers(P2)

function powers(of: number): Int32Array {
  const all = new Int32Array(MAX_UNIT_CHARS + 1)
  all[0] = 1
  for (let at = 1; at < all.length; at += 1) all[at] = Math.imul(all[at - 1]!, of)
  return all
}

/** Words that are put together: their characters as one, with the number of the first one. */
class Unit {
  key = 0
  check = 0
  chars = 0
  traits = 0
  words = 0
  first = 0

  add(key: number, check: number, chars: number, traits: number, word: number): void {
    if (this.words === 0) this.first = word
    this.words += 1
    this.chars += chars
    this.traits |= traits
    if (this.chars > MAX_UNIT_CHARS || chars > MAX_UNIT_CHARS) return
    this.key = (Math.imul(this.key, POWERS1[chars]!) + key) | 0
    this.check = (Math.imul(this.check, POWERS2[chars]!) + check) | 0
  }

  clear(): void {
    if (this.words === 0) return
    this.key = this.check = this.chars = this.traits = this.words = 0
  }

  tell(kind: Kind, sink: Sink): void {
    if (this.chars > MAX_UNIT_CHARS) return
    const last = this.first + this.words - 1
    sink.unit(kind, mixed(this.key), mixed(this.check), this.chars, this.traits, this.first, last)
  }
}

/** Scans one text at a time. */
export class Scanner {
  readonly #segment = new Unit()
  readonly #chunk = new Unit()
  readonly #groups = new Unit()
  readonly #field = new Unit()
  readonly #line = new Unit()
  readonly #last = new Int32Array(4)
  #word = 0
  #segments = 0
  #fields = 0

  /** @returns the number of words */
  scan(given: string, sink: Sink): number {
    const text = isAscii(given)
      ? given
      : given
          .normalize('NFKD')
          .replaceAll(/\p{M}+/gu, '')
          .normalize('NFC')
    this.#word = 0
    let key = 0
    let check = 0
    let chars = 0
    let traits = 0
    const { length } = text
    for (let at = 0; at <= length; at += 1) {
      const code = at < length ? text.charCodeAt(at) : 10
      let type = code < 128 ? ASCII[code]! : classOfOther(code)
      if (type <= DIGIT && type !== JOINER) {
        const folded = type === CAPITAL ? code + 32 : code
        key = (Math.imul(key, P1) + folded) | 0
        check = (Math.imul(check, P2) + folded) | 0
        chars += 1
        traits |= type === DIGIT ? HAS_DIGIT : type === LOWER ? HAS_LETTER : HAS_LETTER | HAS_CAPITAL
        continue
      }
      if (type === FOREIGN) {
        const folded = folding(code)
        key = (Math.imul(key, P1) + folded) | 0
        check = (Math.imul(check, P2) + folded) | 0
        chars += 1
        traits |= HAS_LETTER | HAS_FOREIGN | (folded === code ? 0 : HAS_CAPITAL)
        continue
      }
      if (type === APOSTROPHE) {
        // In a word, as in don't.
        if (chars > 0 && isLetter(text, at + 1)) continue
        type = FIELD_END
      }
      if (chars > 0) {
        this.#endWord(key, check, chars, traits, sink)
        key = check = chars = traits = 0
      }
      if (type === IDEOGRAPH) {
        this.#endWord(code, Math.imul(code, P2), 1, HAS_LETTER | HAS_FOREIGN, sink)
        continue
      }
      if (type === JOINER) continue
      if (type === SENTENCE_END || type === COLON) {
        if (isSpace(text, at + 1)) type = FIELD_END
        else if (type === COLON) type = SEGMENT_END
        else continue
      }
      if (this.#segment.words > 0) this.#endSegment(sink)
      if (type === SEGMENT_END) continue
      if (this.#chunk.words > 0) this.#endChunk(sink)
      if (type === SPACE) continue
      this.#endGroups(sink)
      if (this.#field.words > 0) this.#endField(sink)
      if (type === LINE_END && this.#line.words > 0) this.#endLine(sink)
    }
    return this.#word
  }

  #endWord(key: number, check: number, chars: number, traits: number, sink: Sink): void {
    const word = this.#word
    this.#word += 1
    const wordKey = mixed(key)
    const wordCheck = mixed(check)
    sink.unit(WORD, wordKey, wordCheck, chars, traits, word, word)
    this.#segment.add(key, check, chars, traits, word)
    this.#chunk.add(key, check, chars, traits, word)
    this.#field.add(key, check, chars, traits, word)
    this.#line.add(key, check, chars, traits, word)
    if ((traits & HAS_DIGIT) === 0) this.#endGroups(sink)
    else this.#groups.add(key, check, chars, traits, word)
    const last = this.#last
    if (word >= 2) {
      const tripleKey = mixed(Math.imul(Math.imul(last[0]!, P1) + last[2]!, P1) + wordKey)
      const tripleCheck = mixed(Math.imul(Math.imul(last[1]!, P2) + last[3]!, P2) + wordCheck)
      sink.unit(TRIPLE, tripleKey, tripleCheck, chars, traits, word - 2, word)
    }
    last[0] = last[2]!
    last[1] = last[3]!
    last[2] = wordKey
    last[3] = wordCheck
  }

  #endSegment(sink: Sink): void {
    if (this.#segment.words > 1) this.#segment.tell(SEGMENT, sink)
    this.#segments += 1
    this.#segment.clear()
  }

  #endChunk(sink: Sink): void {
    if (this.#segments > 1) this.#chunk.tell(CHUNK, sink)
    this.#segments = 0
    this.#chunk.clear()
  }

  #endGroups(sink: Sink): void {
    if (this.#groups.words > 1) this.#groups.tell(GROUPS, sink)
    this.#groups.clear()
  }

  #endField(sink: Sink): void {
    if (this.#field.words <= MAX_FIELD_WORDS) this.#field.tell(FIELD, sink)
    this.#fields += 1
    this.#field.clear()
  }

  #endLine(sink: Sink): void {
    if (this.#fields > 1 && this.#line.words <= 2 * MAX_FIELD_WORDS) this.#line.tell(LINE, sink)
    this.#fields = 0
    this.#line.clear()
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

function isSpace(text: string, at: number): boolean {
  if (at >= text.length) return true
  const code = text.charCodeAt(at)
  const type = code < 128 ? ASCII[code]! : classOfOther(code)
  return type === SPACE || type === LINE_END || type === FIELD_END
}
