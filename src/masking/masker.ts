// Replaces personal data by tokens on its way to the model, and puts it back on its way from the model. One for each session. Pure.
import { isRecord } from '../text/json.ts'
import type { Match, Recogniser } from './recognisers.ts'

/** Beyond it, values are still replaced, and cannot be put back. */
const MAX_TOKENS = 100_000
/** How deep data is looked into; deeper down it is replaced as a whole. */
const MAX_DEPTH = 200
const TOKEN = /\[[A-Z][A-Z0-9_]{0,31}_\d{1,6}\]/g
/** A value that means the same wherever it is put into Python's source. */
const PLAIN_IN_SOURCE = /^[^'"\\{}\r\n\0]*$/

export class Masker {
  readonly #recognisers: readonly Recogniser[]
  readonly #tokenOf = new Map<string, string>()
  readonly #valueOf = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  constructor(recognisers: readonly Recogniser[]) {
    this.#recognisers = recognisers
  }

  /** A text with a token in place of every match. The same value has the same token. */
  mask(text: string): string {
    const matches = this.#recognisers.flatMap((recogniser) => recogniser.find(text))
    if (matches.length === 0) return text
    let masked = ''
    let at = 0
    for (const { start, end, label } of apart(matches)) {
      masked += text.slice(at, start) + this.#token(text.slice(start, end), label)
      at = end
    }
    return masked + text.slice(at)
  }

  /** Data with all of its texts masked, keys as well; a number that is a match becomes a token. */
  maskData(data: unknown, depth = 0): unknown {
    if (typeof data === 'string') return this.mask(data)
    if (typeof data === 'number') {
      const masked = this.mask(String(data))
      return masked === String(data) ? data : masked
    }
    if (depth > MAX_DEPTH) return '…'
    if (Array.isArray(data)) return data.map((item) => this.maskData(item, depth + 1))
    if (!isRecord(data)) return data
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [this.mask(key), this.maskData(value, depth + 1)]),
    )
  }

  /** A text with the values of this session's tokens in place of them. */
  unmask(text: string): string {
    return this.#replaced(text, () => true)
  }

  /** The same for Python's source: a value that could end a literal stays a token, and is put back where it is an argument. */
  unmaskSource(code: string): string {
    return this.#replaced(code, (value) => PLAIN_IN_SOURCE.test(value))
  }

  /** Data with the values of this session's tokens; the same object where there are none. */
  unmaskData(data: unknown): unknown {
    if (this.#valueOf.size === 0) return data
    if (typeof data === 'string') return this.unmask(data)
    if (Array.isArray(data)) return data.map((item) => this.unmaskData(item))
    if (!isRecord(data)) return data
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [this.unmask(key), this.unmaskData(value)]))
  }

  #replaced(text: string, mayReplace: (value: string) => boolean): string {
    if (this.#valueOf.size === 0 || !text.includes('[')) return text
    return text.replace(TOKEN, (token) => {
      const value = this.#valueOf.get(token)
      return value !== undefined && mayReplace(value) ? value : token
    })
  }

  #token(value: string, label: string): string {
    const known = this.#tokenOf.get(value)
    if (known !== undefined) return known
    if (this.#tokenOf.size >= MAX_TOKENS) return `[${label}]`
    const number = (this.#counts.get(label) ?? 0) + 1
    this.#counts.set(label, number)
    const token = `[${label}_${number}]`
    this.#tokenOf.set(value, token)
    this.#valueOf.set(token, value)
    return token
  }
}

/** In order; of those that overlap the first, and of those the longest, grown to hold what overlaps it. */
function apart(matches: readonly Match[]): Match[] {
  const kept: Match[] = []
  for (const match of matches.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1)
    if (!last || match.start >= last.end) kept.push({ ...match })
    else if (match.end > last.end) last.end = match.end
  }
  return kept
}
