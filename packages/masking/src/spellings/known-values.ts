// Values that servers have returned. Each is found again wherever it stands, also without the name that marked it, and
// inside of what looks like a longer value: after padding, or after an escape that nothing decodes. Pure.
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import type { Match } from '../by-patterns.ts'
import { keyOfItem, keysOf } from '../mask-data.ts'
import { NO_WORD } from '../secret-recogniser.ts'
import { findInPieces, PIECE_CHARS } from './in-pieces.ts'
import { type Found } from './find-values.ts'
import { LOOSE, looseText } from './decode.ts'
import { type Range, View } from './view.ts'

/** Of the last results: their texts, and the values in them. */
const MAX_CHARS = 1 << 19
const MAX_ITEMS = 1 << 16
const MAX_FORMS = 30_000
/** Values are looked up by their beginning, and a text has only some of the beginnings' numbers. */
const HEAD_CHARS = 5
const MIN_FORM_CHARS = 8
const MAX_CUT_CHARS = 128
const NUMBERS = 1 << 16
/** A word that stands where secrets do, such as `password: required`, is none elsewhere. */
const isLikeWord = (text: string): boolean =>
  !(text.length < MIN_FORM_CHARS ? SHORT_SECRET : NO_WORD).test(text) && !/^[A-Z\d]{16}|^(?=.{8})\S+\s+\S/.test(text)
/** It is looked for as a word of its own. */
const SHORT_SECRET = /^(?=.*\p{L}).*\d/u
const isSecretLabel = (label: string): boolean => label.startsWith('SECRET')
/** Numbers, which every program groups in another way. */
const isNumberLabel = (label: string): boolean => /^(?:CARD|IBAN|PHONE)/.test(label)
/** What a program puts between parts of a value, or doubles, or leaves out; and other forms of a letter. */
// oxlint-disable-next-line no-control-regex
const DRESS = /[\s"'`\\|>#,\0\u2400\u2500-\u257F]+|[\x80-\u{10FFFF}]/gu
const GROUPS = /[^0-9A-Za-z]+/g

export class KnownValues {
  /** Texts that were not searched yet. */
  #texts: string[] = []
  #chars = 0
  #reading: { pieces: Generator<Found[], void>; chars: number } | undefined
  /** What each known value is, by the value and by what remains of it without dress and groups. */
  readonly #forms = new Map<string, { value: string; label: string }>()
  /** How long forms with this beginning are, the longest first. */
  readonly #lengths = new Map<string, number[]>()
  readonly #heads = new Uint8Array(NUMBERS)
  /** Values by their beginning, sorted once one is looked for that is cut. */
  readonly #byHead = new Map<string, { values: string[]; isSorted: boolean }>()
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
    if (value.length < HEAD_CHARS || this.has(value)) return
    if (isSecretLabel(label) && isLikeWord(value)) return
    if (this.#forms.size >= MAX_FORMS) {
      this.#forms.clear()
      this.#lengths.clear()
      this.#byHead.clear()
      this.#heads.fill(0)
    }
    const known = { value, label }
    this.#addForm(value, known)
    const head = value.slice(0, HEAD_CHARS)
    const { values } = this.#byHead.get(head) ?? { values: [] as string[] }
    values.push(value)
    this.#byHead.set(head, { values, isSorted: false })
    const forms = [undressed(value).text, ...(isNumberLabel(label) ? [value.replaceAll(GROUPS, '')] : [])]
    for (const form of forms) if (form.length >= MIN_FORM_CHARS && !this.#forms.has(form)) this.#addForm(form, known)
  }

  #addForm(form: string, known: { value: string; label: string }): void {
    this.#forms.set(form, known)
    this.#heads[headNumber(form, 0)] = 1
    const head = form.slice(0, HEAD_CHARS)
    const lengths = new Set(this.#lengths.get(head)).add(form.length)
    this.#lengths.set(
      head,
      [...lengths].toSorted((a, b) => b - a),
    )
  }

  has(value: string): boolean {
    return this.#forms.get(value)?.value === value
  }

  /** Adds the known values of a text to what patterns find, which is left out where it only surrounds one. */
  first(text: string, found: readonly Match[]): Match[] {
    if (this.#forms.size === 0) return [...found]
    const view = new View(text)
    const places = new Places(text)
    const own = [...this.#matches(text)]
    const whole = own.filter((one) => one.isWhole && places.take(one))
    const cut = [...this.#cut(text)].filter((one) => places.take(one))
    // A longer secret may begin like a shorter one.
    const isFree = (one: Match): boolean => isSecretLabel(one.label) || places.areFree(one)
    const others = found.filter(isFree)
    places.cover(others)
    const read = view.replaced(LOOSE, looseText)
    const spelled = [[undressed(text)], read ? [undressed(read.text), read] : []].flatMap((one) => this.#in(one, text))
    // Of a number, its groups are a part: what is shown is given back.
    const grouped = this.#in([view.replaced(GROUPS, () => '') ?? view], text).map((one) => ({
      ...one,
      value: undefined,
    }))
    const parts = own.filter(({ isWhole, isCut }) => !isWhole && !isCut)
    // A beginning last: it may be of a value that goes on in another line.
    const more = [...parts, ...spelled, ...grouped, ...own.filter(({ isCut }) => isCut)].filter(
      (one) => !places.isCovered(one) && places.take(one),
    )
    return [...whole, ...cut, ...more, ...others.filter(isFree)]
  }

  /** The beginnings of values before an ellipsis, as tables and errors cut them, also in a literal. */
  *#cut(text: string): Generator<Match> {
    for (const { 0: dots, index } of text.matchAll(/["']…|\.{3,}|…/g)) {
      const end = index + (dots.startsWith('.') ? dots.length - 3 : 0)
      for (let at = Math.max(0, end - MAX_CUT_CHARS); at + HEAD_CHARS <= end; at += 1) {
        const value = this.#beginningWith(text.slice(at, end))
        if (value === undefined || (DIGIT.test(value[0]!) && DIGIT.test(text[at - 1] ?? ''))) continue
        yield { start: at, end, label: this.#forms.get(value)!.label, isCut: end - at < value.length }
        break
      }
    }
  }

  #beginningWith(text: string): string | undefined {
    const [, next] = this.#around(text)
    return next?.startsWith(text) ? next : undefined
  }

  /** The beginning of a value at a word's start, as a column of a fixed width cuts it: what follows is no word. */
  #cutAt(text: string, at: number): (Match & { isWhole: boolean }) | undefined {
    if (IN_WORD.test(text[at - 1] ?? '')) return undefined
    const given = text.slice(at, at + MAX_CUT_CHARS)
    for (const value of this.#around(given)) {
      let length = 0
      while (length < given.length && value?.[length] === given[length]) length += 1
      if (value === undefined || length === value.length || IN_WORD.test(given[length] ?? '')) continue
      const shown = given.slice(0, length).trimEnd()
      const { label } = this.#forms.get(value)!
      if (isTelling(shown, label)) return { start: at, end: at + shown.length, label, isCut: true, isWhole: false }
    }
    return undefined
  }

  /** The values before and after a text in order, of those that begin alike. */
  #around(text: string): (string | undefined)[] {
    const known = this.#byHead.get(text.slice(0, HEAD_CHARS))
    if (!known) return []
    if (!known.isSorted) known.values.sort()
    known.isSorted = true
    let [low, high] = [0, known.values.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (known.values[middle]! < text) low = middle + 1
      else high = middle
    }
    return [known.values[low - 1], known.values[low]]
  }

  /** @param views each of the text of the next, the last one of `text` */
  #in(views: readonly View[], text: string): Match[] {
    const shown = views[0]?.text ?? text
    if (shown === text) return []
    const places = (range: Range): Range[] => views.map((view) => (range = view.before(range)))
    const isGap: Gap = (at) => places([at, at]).some(([after, until]) => after > until)
    return Array.from(this.#matches(shown, isGap)).flatMap(({ start, end: to, label, isWhole }) => {
      if (!isWhole) return []
      const [first, last] = places([start, to]).at(-1)!
      const end = last + MARKS.exec(text.slice(last, last + 8))![0].length
      return [{ start: first, end, label, value: this.#forms.get(shown.slice(start, to))!.value }]
    })
  }

  *#matches(text: string, isGap?: Gap): Generator<Match & { isWhole: boolean }> {
    let number = headNumber(text, 0)
    for (let at = 0, read = 0; at + HEAD_CHARS <= text.length; at += 1) {
      // Of the number at the place before, the first character goes, and a new one comes.
      for (; read < at; read += 1)
        number =
          (Math.imul(number, 31) + text.charCodeAt(read + HEAD_CHARS) - Math.imul(text.charCodeAt(read), LEAVES)) &
          0xff_ff
      if (this.#heads[number] === 0) continue
      const from = at
      const lengths = this.#lengths.get(text.slice(at, at + HEAD_CHARS)) ?? []
      for (const length of lengths) {
        const form = text.slice(at, at + length)
        const label = this.#forms.get(form)?.label
        if (label === undefined) continue
        const isSecret = isSecretLabel(label)
        const isWhole = isSecret ? length >= MIN_FORM_CHARS || isWord(text, at, length) : isApart(form, text, at, isGap)
        // Half a number is another number. What follows a name may be another value.
        if (!isWhole && (isSecret || DIGIT.test(form.at(-1)!))) continue
        yield { start: at, end: at + length, label, isWhole }
        at += length - 1
        break
      }
      const cut = isGap || at > from ? undefined : this.#cutAt(text, at)
      if (cut) yield cut
    }
  }
}

/** Which parts of a text known values and patterns take. */
class Places {
  readonly #taken: Uint8Array
  readonly #found: Uint32Array

  constructor(text: string) {
    this.#taken = new Uint8Array(text.length)
    this.#found = new Uint32Array(text.length)
  }

  areFree({ start, end }: Match): boolean {
    return !this.#taken.subarray(start, end).includes(1)
  }

  take(one: Match): boolean {
    if (!this.areFree(one)) return false
    this.#taken.fill(1, one.start, one.end)
    return true
  }

  cover(found: readonly Match[]): void {
    for (const [at, { start, end, label }] of found.entries())
      if (!isSecretLabel(label)) this.#found.fill(at + 1, start, end)
  }

  /** Whether a pattern takes it for one value, or for a part of one. */
  isCovered({ start, end }: Match): boolean {
    return this.#found[start]! > 0 && this.#found[start] === this.#found[end - 1]
  }
}

/** Whether something was left out here. */
type Gap = (at: number) => boolean

/** Numbers go on with digits, and names with letters; what stands before a name may be an escape or padding. */
function isApart(form: string, text: string, at: number, isGap: Gap = () => false): boolean {
  const end = at + form.length
  // Programs fill a number with zeros, and many people write 00 for the plus before a country's code.
  const zeros = ZEROS.exec(text.slice(Math.max(0, at - MAX_ZEROS), at))![0].length
  if (DIGIT.test(form[0]!) && DIGIT.test(text[at - zeros - 1] ?? '') && !isGap(at) && !isGap(at - zeros)) return false
  const goesOn = DIGIT.test(form.at(-1)!) ? DIGIT.test(text[end] ?? '') : MORE_OF_NAME.test(text.slice(end, end + 2))
  return !goesOn || isGap(end)
}

/** Whether no letter or digit is beside it. */
const isWord = (text: string, at: number, length: number): boolean =>
  !IN_WORD.test(text[at - 1] ?? '') && !IN_WORD.test(text[at + length] ?? '')

/** Whether the beginning of a value is certainly of it, and more than one may say. */
function isTelling(shown: string, label: string): boolean {
  const ofNumber = isNumberLabel(label) ? /(?:\d\D*){8}/ : /^$/
  const telling = isSecretLabel(label) ? NO_WORD : label.startsWith('EMAIL') ? /@./ : ofNumber
  return shown.length >= MIN_FORM_CHARS && telling.test(shown)
}

const IN_WORD = /[\p{L}\p{N}]/u
const MAX_ZEROS = 64
const ZEROS = /0*$/
const DIGIT = /\d/
const MARKS = /^\p{M}*/u
const MORE_OF_NAME = /^[.-]?[\p{L}\p{N}]/u

function undressed(text: string): View {
  const view = new View(text)
  return view.replaced(DRESS, plain) ?? view
}

/** Of letters that look like another one, that one; each is made once. */
const plainOf = new Map<string, string>()
function plain(found: string): string | undefined {
  if (found.charCodeAt(0) < 0x80) return ''
  const known = plainOf.get(found)
  const made = known ?? found.normalize('NFKD').replaceAll(/[\s\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
  if (known === undefined && plainOf.size < 1 << 14) plainOf.set(found, made)
  return made === found ? undefined : made
}

/** What the first of these characters counts one place later. */
const LEAVES = 31 ** HEAD_CHARS

function headNumber(text: string, at: number): number {
  let number = 0
  for (let index = at; index < at + HEAD_CHARS; index += 1) number = (number * 31 + text.charCodeAt(index)) & 0xff_ff
  return number
}
