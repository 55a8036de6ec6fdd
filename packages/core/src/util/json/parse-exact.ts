// Reads JSON without JavaScript's losses: integers beyond 2^53 are BigInts, keys that look like numbers keep their
// place, and 3.0 is written as 3.0. Pure.
import { inOrder, keepFloats, marked, unmarked } from './exact-numbers.ts'

/** What plain parsing may change. A text of many MB is searched in a fraction of the time that parsing takes. */
const INEXACT = /[:,[]\s*-?\d{16}|^\s*-?\d{16}|"\d+"\s*:/
/** Python reads no longer integer, and reading one takes more than linear time. */
const MAX_DIGITS = 4_300
const INTEGER = /^-?\d+$/
const FLOAT = /[:,[]\s*-?\d+(?:\.0+[,\s\]}]|(?:\.\d+)?[eE](?!-))/
const BRACKETS = /["[\]{}]/g
/** No shorter integer loses anything. */
const SAFE_DIGITS = 15

/** Parses JSON as `JSON.parse` does, with BigInts and in the order of the text. @throws SyntaxError */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return isInexact(text) ? new Reader(text).value() : value
}

/** Whether `parseExact` takes longer for this text, as plain parsing may lose something. */
export function isInexact(text: string): boolean {
  // Of the forms of floats that Python and JavaScript write.
  return INEXACT.test(text) || ((text.includes('.0') || text.includes('e+')) && FLOAT.test(text))
}

/** Whether Python reads another value from the text than from the JSON of what JavaScript reads from it: `3.0`, too. */
export function losesByParsing(text: string): boolean {
  return INEXACT.test(text) || FLOAT.test(text)
}

/** The source of a member of the object that valid JSON is; undefined if it has none of that name. */
export function memberJson(text: string, name: string): string | undefined {
  return new Reader(text).members().get(name)
}

/** The same; undefined for other text. */
export function tryParseExact(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

/** Reads what is known to be valid JSON. Recursive, so a caller bounds the nesting of hostile text. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(): unknown {
    const first = this.#next()
    if (first === '{') return this.#object()
    if (first === '[') return this.#array()
    if (first === '"') return this.#string()
    const word = this.#scalar()
    const value: unknown = JSON.parse(word)
    return word.length > SAFE_DIGITS && word.length <= MAX_DIGITS && INTEGER.test(word) && String(value) !== word
      ? BigInt(word)
      : value
  }

  #scalar(): string {
    const from = this.#at
    let code = this.#text.charCodeAt(this.#at)
    // Up to a space, a comma or a bracket.
    while (code > 0x20 && code !== 0x2c && code !== 0x5d && code !== 0x7d) code = this.#text.charCodeAt((this.#at += 1))
    return this.#text.slice(from, this.#at)
  }

  members(): Map<string, string> {
    return this.#next() === '{' ? this.#entries(() => this.#source()) : new Map()
  }

  #object(): Record<string, unknown> {
    const floats = new Map<string, string>()
    return keepFloats(inOrder(this.#entries((key) => this.#item(key, floats))), floats)
  }

  /** @param floats gets the word of a float that is whole */
  #item(key: string, floats: Map<string, string>): unknown {
    this.#next()
    const from = this.#at
    const value = this.value()
    const word = Number.isInteger(value) ? this.#text.slice(from, this.#at) : ''
    if (word !== '' && !INTEGER.test(word)) floats.set(key, word)
    return value
  }

  #source(): string {
    const first = this.#next()
    const from = this.#at
    if (first === '"') this.#at = this.#endOfString() + 1
    else if (first === '{' || first === '[') this.#skipBrackets()
    else this.#scalar()
    return this.#text.slice(from, this.#at)
  }

  #skipBrackets(): void {
    let depth = 0
    do {
      BRACKETS.lastIndex = this.#at
      this.#at = BRACKETS.exec(this.#text)!.index
      const bracket = this.#text[this.#at]!
      if (bracket === '"') this.#at = this.#endOfString()
      else depth += bracket === '{' || bracket === '[' ? 1 : -1
      this.#at += 1
    } while (depth > 0)
  }

  #entries<T>(read: (key: string) => T): Map<string, T> {
    const entries = new Map<string, T>()
    this.#at += 1
    while (this.#next() !== '}') {
      if (this.#text[this.#at] === ',') {
        this.#at += 1
        this.#next()
      }
      const key = this.#string()
      this.#next()
      this.#at += 1
      entries.set(key, read(key))
    }
    this.#at += 1
    return entries
  }

  #array(): unknown[] {
    const items: unknown[] = []
    const floats = new Map<string, string>()
    this.#at += 1
    while (this.#next() !== ']') {
      if (this.#text[this.#at] === ',') this.#at += 1
      items.push(this.#item(String(items.length), floats))
    }
    this.#at += 1
    return keepFloats(items, floats)
  }

  #string(): string {
    const end = this.#endOfString()
    const json = this.#text.slice(this.#at, end + 1)
    this.#at = end + 1
    return JSON.parse(json) as string
  }

  /** Where the string that begins here ends. */
  #endOfString(): number {
    let end = this.#at
    do end = this.#text.indexOf('"', end + 1)
    while (isEscaped(this.#text, end))
    return end
  }

  /** Skips white space. */
  #next(): string {
    while (this.#text.charCodeAt(this.#at) <= 0x20) this.#at += 1
    return this.#text[this.#at]!
  }
}

function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text[before - 1] === '\\') before -= 1
  return (at - before) % 2 === 1
}

/** Writes JSON as `JSON.stringify` does, and numbers as they were read. */
export function exactJson(value: unknown): string {
  const { json, isMarked } = marked(value)
  return isMarked ? unmarked(json) : json
}

/** A value that other code may write with `JSON.stringify`: `unmarked` makes of its text what `exactJson` writes. */
export function markBigInts<T>(value: T): T {
  const { json, isMarked } = marked(value)
  return isMarked ? (parseExact(json) as T) : value
}
