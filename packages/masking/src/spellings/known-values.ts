// Values that servers have returned. Each is found again wherever it stands, also without the name that marked it, and
// inside of what looks like a longer value: after padding, or after an escape that nothing decodes. Pure.
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import type { Match } from '../by-patterns.ts'
import { keyOfItem, keysOf } from '../mask-data.ts'
import { NO_WORD } from '../secret-recogniser.ts'
import { findInPieces, PIECE_CHARS } from './in-pieces.ts'
import { type Found } from './find-values.ts'
import { quotedText } from './decode.ts'
import { View } from './view.ts'

/** Of the last results: their texts, and the values in them. */
const MAX_CHARS = 1 << 19
const MAX_ITEMS = 1 << 16
const MAX_VALUES = 10_000
/** Values are looked up by their beginning, and a text has only some of the beginnings' numbers. */
const HEAD_CHARS = 5
const NUMBERS = 1 << 16
/** A word that stands where secrets do, such as `password: required`, is none elsewhere. */
const isLikeWord = (text: string): boolean => text.length < 8 || !(NO_WORD.test(text) || /^[A-Z\d]{16}/.test(text))
const isSecretLabel = (label: string): boolean => label.startsWith('SECRET')
/** How lines are broken: at spaces, also in a quotation or a table; and at a width, as mail or `sed l` marks it. */
const BREAKS: readonly [RegExp, (found: string) => string][] = [
  [/[ \t>|#]*\n[ \t>|#]*/g, () => ' '],
  [/[=\\]?\r?\n|(?:=[0-9A-F]{2})+/g, quotedText],
]

export class KnownValues {
  /** Texts that were not searched yet. */
  #texts: string[] = []
  #chars = 0
  #reading: { pieces: Generator<Found[], void>; chars: number } | undefined
  readonly #labels = new Map<string, string>()
  /** How long values with this beginning are, the longest first. */
  readonly #lengths = new Map<string, number[]>()
  readonly #heads = new Uint8Array(NUMBERS)
  readonly #find: (text: string) => Match[]
  readonly #labelOf: (text: string, key?: string) => string | undefined

  constructor(find: (text: string) => Match[], labelOf: (text: string, key?: string) => string | undefined) {
    this.#find = find
    this.#labelOf = labelOf
  }

  add(result: unknown): void {
    const pending: [value: unknown, key?: string | undefined][] = [[result]]
    for (let left = MAX_ITEMS; pending.length > 0 && left > 0; left -= 1) {
      const [one, key] = pending.pop()!
      if (Array.isArray(one)) for (const item of one.slice(0, left)) pending.push([item, keyOfItem(item, key)])
      else if (isRecord(one)) {
        const keyOf = keysOf(one, key)
        for (const [name, value] of Object.entries(one).slice(0, left)) pending.push([name], [value, keyOf(name)])
      } else if (typeof one === 'string' || typeof one === 'number' || typeof one === 'bigint')
        this.#addText(String(one), key)
    }
  }

  #addText(text: string, key: string | undefined): void {
    const label = this.#labelOf(text, key)
    if (label !== undefined) return this.#remember(text, label)
    if (text.length < HEAD_CHARS) return
    this.#texts.push(text.slice(0, MAX_CHARS))
    this.#chars += this.#texts.at(-1)!.length
    while (this.#chars > MAX_CHARS) this.#chars -= this.#texts.shift()!.length
  }

  /** Searches a piece of what was added. Returns how many characters it read: none are left at 0. */
  learn(): number {
    if (!this.#reading) {
      const text = this.#texts.pop()
      if (text === undefined) return 0
      this.#chars -= text.length
      const data = /^\s*[{["]/.test(text) ? parseJson(text) : undefined
      if (data !== undefined) {
        this.add(data)
        return text.length
      }
      this.#reading = { pieces: findInPieces(text, this.#find), chars: Math.min(text.length, PIECE_CHARS) }
    }
    const { pieces, chars } = this.#reading
    const { value: found, done } = pieces.next()
    if (done) this.#reading = undefined
    for (const { value, label } of found ?? []) if (value !== undefined) this.#remember(value, label)
    return done ? 1 : chars
  }

  #remember(value: string, label: string): void {
    if (value.length < HEAD_CHARS || this.#labels.has(value)) return
    if (isSecretLabel(label) && isLikeWord(value)) return
    if (this.#labels.size >= MAX_VALUES) {
      this.#labels.clear()
      this.#lengths.clear()
      this.#heads.fill(0)
    }
    this.#labels.set(value, label)
    this.#heads[headNumber(value, 0)] = 1
    const head = value.slice(0, HEAD_CHARS)
    const lengths = new Set(this.#lengths.get(head)).add(value.length)
    this.#lengths.set(
      head,
      [...lengths].toSorted((a, b) => b - a),
    )
  }

  has(value: string): boolean {
    return this.#labels.has(value)
  }

  /** Adds the known values of a text to what patterns find, which is left out where it only surrounds one. */
  first(text: string, found: readonly Match[]): Match[] {
    if (this.#labels.size === 0) return [...found]
    const whole = [...this.#matches(text)]
    const broken = BREAKS.flatMap(([breaks, by]) => this.#broken(new View(text).replaced(breaks, by)))
    if (whole.length === 0 && broken.length === 0) return [...found]
    const taken = new Uint8Array(text.length)
    for (const { start, end } of whole) taken.fill(1, start, end)
    const more = broken.filter(
      ({ start, end }) => !taken.subarray(start, end).some(Boolean) && taken.fill(2, start, end),
    )
    // A longer secret may begin like a shorter one.
    const others = found.filter(({ start, end, label }) => {
      const place = taken.subarray(start, end)
      return !place.includes(2) && (isSecretLabel(label) || !place.includes(1))
    })
    return [...whole, ...more, ...others]
  }

  #broken(joined: View | undefined): Match[] {
    if (!joined) return []
    return Array.from(this.#matches(joined.text, joined), ({ start, end, label }): Match => {
      const [first, last] = joined.before([start, end])
      return { start: first, end: last, label, value: joined.text.slice(start, end) }
    })
  }

  *#matches(text: string, joined?: View): Generator<Match> {
    for (let at = 0; at + HEAD_CHARS <= text.length; at += 1) {
      if (this.#heads[headNumber(text, at)] === 0) continue
      const lengths = this.#lengths.get(text.slice(at, at + HEAD_CHARS)) ?? []
      const length = lengths.find((one) => this.#isWhole(text.slice(at, at + one), text, at, joined))
      if (length === undefined) continue
      yield { start: at, end: at + length, label: this.#labels.get(text.slice(at, at + length))! }
      at += length - 1
    }
  }

  /** Numbers go on with digits, and names with letters; what stands before a name may be an escape or padding. */
  #isWhole(value: string, text: string, at: number, joined?: View): boolean {
    const label = this.#labels.get(value)
    if (label === undefined || isSecretLabel(label)) return label !== undefined
    const end = at + value.length
    const [afterBreak, beforeBreak] = joined?.before([end, end]) ?? [end, end]
    if (afterBreak > beforeBreak) return true
    if (DIGIT.test(value[0]!) && DIGIT.test(text[at - 1] ?? '')) return false
    return DIGIT.test(value.at(-1)!) ? !DIGIT.test(text[end] ?? '') : !MORE_OF_NAME.test(text.slice(end, end + 2))
  }
}

const DIGIT = /\d/
const MORE_OF_NAME = /^[.-]?[\p{L}\p{N}]/u

function headNumber(text: string, at: number): number {
  let number = 0
  for (let index = at; index < at + HEAD_CHARS; index += 1) number = (number * 31 + text.charCodeAt(index)) & 0xff_ff
  return number
}
