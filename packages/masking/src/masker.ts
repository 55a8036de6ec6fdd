// Puts tokens in place of personal data on its way to the model, and back on the way from it. One a session. Pure.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { pauses } from '@sandbridge/core/util/async'
import type { OtherLanguage } from '@sandbridge/core/config/settings'
import { floatsOf, inOrder, keepFloats } from '@sandbridge/core/util/json'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import type { Mask } from '@sandbridge/core/parts'
import type { Match, Recogniser } from './by-patterns.ts'
import { apart, type Found } from './spellings/find-values.ts'
import { findInPieces, PIECE_CHARS } from './spellings/in-pieces.ts'
import { KnownValues } from './spellings/known-values.ts'
import { plainNumbers } from './spellings/plain-numbers.ts'

/** Beyond this, values are still replaced but cannot be put back. */
const MAX_TOKENS = 100_000
const TOKEN = /\[[A-Z][A-Z0-9_]{0,31}_\d{1,6}\]/g
const MAX_TOKEN_CHARS = 48
/** Most passes over the work: masking a text may reveal or build another text to search. */
const MAX_ROUNDS = 8
/** Values that cannot change a program where they stand in a literal, by its language. */
const PLAIN_IN_SOURCE: Record<OtherLanguage | 'python', RegExp> = {
  python: /^[^'"\\{}\r\n\0]*$/,
  // A comment, as around a function, ends at its first `*/`.
  javascript: /^(?!.*\*\/)[^'"`$\\{}\r\n\u2028\u2029\0]*$/,
  // Without quotes as well, where a word must stay one, and be no option of a command.
  bash: /^[\p{L}\p{M}\p{N}@+_][\p{L}\p{M}\p{N}@.,:+_/%-]*$/u,
}

/** Finds names in texts that the recognisers have masked already. @throws BridgeError MASK_UNAVAILABLE */
export type NameFinder = (
  texts: readonly string[],
  signal: AbortSignal | undefined,
) => Promise<ReadonlyMap<string, readonly Match[]>>

/** The shortest possible name has two letters, or one of a script without case. */
const MAY_HOLD_NAME = /\p{L}\p{M}*\p{L}|\p{Lo}/u

export class Masker {
  readonly #recognisers: readonly Recogniser[]
  readonly #findNames: NameFinder | undefined
  readonly #tokenOf = new Map<string, string>()
  readonly #valueOf = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  constructor(recognisers: readonly Recogniser[], findNames?: NameFinder) {
    this.#recognisers = recognisers
    this.#findNames = findNames
  }

  /**
   * Runs `work` with a function that replaces every match with a token; equal values get equal tokens. Repeats the work
   * until every text was searched: long texts are searched in pieces between two rounds, and names in what the earlier
   * rounds have made.
   * @throws BridgeError MASK_UNAVAILABLE when names cannot be searched for, or a search fails by a fault of its code
   */
  async masked<T>(work: (mask: Mask) => T, signal?: AbortSignal): Promise<T> {
    try {
      return await this.#searched(work, signal)
    } catch (cause) {
      if (BridgeError.isInstance(cause)) throw cause
      const why = 'A fault of Sandbridge stopped the search for personal data'
      throw new BridgeError('MASK_UNAVAILABLE', why, { cause, hint: 'Show less at once, and report this.' })
    }
  }

  async #searched<T>(work: (mask: Mask) => T, signal: AbortSignal | undefined): Promise<T> {
    await inTurns(() => this.#known.learn() > 0)
    const known = new Map<string, readonly Found[]>()
    /** What masking made of texts that were too long for their round. */
    const long = new Map<string, string>()
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const [unknown, tooLong] = [new Set<string>(), new Set<string>()]
      let room = PIECE_CHARS
      const made = work((text, key) => {
        const label = this.#labelOf(text, key)
        if (label !== undefined) return this.#token(text, label)
        const done = long.get(text)
        if (done === undefined && (room -= text.length) < 0) {
          tooLong.add(text)
          return ''
        }
        const masked = done ?? this.#mask(text)
        const names = known.get(masked)
        if (!names && this.#findNames && mayHoldName(masked)) unknown.add(masked)
        return this.#replace(masked, names ?? [])
      })
      const steps = this.#maskLong(tooLong, long)
      await inTurns(() => !steps.next().done)
      if (tooLong.size > 0) continue
      if (!this.#findNames || unknown.size === 0) return made
      const found = await this.#findNames([...unknown], signal)
      for (const text of unknown) {
        const names = (found.get(text) ?? []).flatMap((match) => outsideTokens(text, match))
        known.set(
          text,
          apart(names).map((name) => ({ ...name, value: text.slice(name.start, name.end) })),
        )
      }
    }
    throw new BridgeError(
      'MASK_UNAVAILABLE',
      'The text could not be searched for names: masking it changes it each time',
    )
  }

  *#maskLong(texts: Iterable<string>, masked: Map<string, string>): Generator<void> {
    for (const text of texts) {
      let [made, at] = ['', 0]
      for (const piece of findInPieces(text, this.#find, this.#isKnown)) {
        made += this.#upTo(text, piece, at)
        at = piece.at(-1)?.end ?? at
        yield
      }
      masked.set(text, made + text.slice(at))
    }
  }

  /** Masks one text synchronously; undefined if it would have to be searched for names, or the search fails. */
  maskedNow(text: string, key?: string): string | undefined {
    try {
      for (let left = PIECE_CHARS, read = 1; read > 0 && left > 0; left -= read) read = this.#known.learn()
      const label = this.#labelOf(text, key)
      const masked = label === undefined ? this.#mask(text) : this.#token(text, label)
      return this.#findNames && mayHoldName(masked) ? undefined : masked
    } catch {
      return undefined
    }
  }

  readonly #labelOf = (text: string, key?: string): string | undefined =>
    key === undefined ? undefined : this.#recognisers.find(({ isValueOf }) => isValueOf?.(key, text))?.label

  readonly #patterns = (text: string): Match[] => {
    const plain = plainNumbers(text)
    return this.#recognisers.flatMap((recogniser) => recogniser.find(recogniser.readsNumbers ? plain : text))
  }

  readonly #known = new KnownValues(this.#patterns, this.#labelOf)
  readonly #isKnown = (value: string): boolean => this.#known.has(value)
  readonly #find = (text: string): Match[] => this.#known.first(text, this.#patterns(text))

  /** A server has returned this to the sandbox. */
  returned(result: unknown): void {
    this.#known.add(result)
  }

  #mask(text: string): string {
    return this.#replace(text, [...findInPieces(text, this.#find, this.#isKnown)].flat())
  }

  #replace(text: string, found: readonly Found[]): string {
    return this.#upTo(text, found, 0) + text.slice(found.at(-1)?.end ?? 0)
  }

  /** The text up to the last value. One that nobody can be sure of gets a token that is not put back. */
  #upTo(text: string, found: readonly Found[], from: number): string {
    let masked = ''
    let at = from
    for (const { start, end, label, value } of found) {
      masked += text.slice(at, start) + (value === undefined ? `[${label}]` : this.#token(value, label))
      at = end
    }
    return masked
  }

  /** Replaces this session's tokens with their values. */
  unmask(text: string): string {
    return this.#replaced(text, () => true)
  }

  /** The same for source. A value that could change the program stays a token until it is passed as an argument. */
  unmaskSource(code: string, language: OtherLanguage | undefined): string {
    const plain = PLAIN_IN_SOURCE[language ?? 'python']
    return this.#replaced(code, (value) => plain.test(value))
  }

  /**
   * The same for data; returns the same object if there are no tokens.
   * @param only the tokens to replace; missing for all
   */
  unmaskData(data: unknown, only?: ReadonlySet<string>): unknown {
    if (this.#valueOf.size === 0) return data
    const unmask = (text: string): string => this.#replaced(text, (_, token) => !only || only.has(token))
    if (typeof data === 'string') return unmask(data)
    const inner = (value: unknown): unknown => this.unmaskData(value, only)
    if (Array.isArray(data)) return keepFloats(data.map(inner), floatsOf(data))
    if (!isRecord(data)) return data
    const entries = Object.entries(data).map(([key, value]): [string, unknown] => [unmask(key), inner(value)])
    return keepFloats(inOrder(new Map(entries)), floatsOf(data))
  }

  #replaced(text: string, mayReplace: (value: string, token: string) => boolean): string {
    if (this.#valueOf.size === 0 || !text.includes('[')) return text
    return text.replace(TOKEN, (token) => {
      const value = this.#valueOf.get(token)
      return value !== undefined && mayReplace(value, token) ? value : token
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

/** Repeats a step while it returns true; others get their turn in between. */
async function inTurns(step: () => boolean): Promise<void> {
  for (const pause = pauses(); step();) await pause()
}

/** Returns the tokens of a masked text that its original does not hold: those that masking it put there. */
export function newTokens(masked: string, original: string): string[] {
  if (masked === original) return []
  const before = new Set<string>(original.match(TOKEN))
  return (masked.match(TOKEN) ?? []).filter((token) => !before.has(token))
}

const mayHoldName = (masked: string): boolean => MAY_HOLD_NAME.test(masked.replaceAll(TOKEN, ''))

/** Returns the parts of a match outside of tokens, trimmed, so that a name has the same token everywhere. */
function outsideTokens(text: string, { start, end, label }: Match): Match[] {
  const places: Match[] = []
  let from = start
  const add = (to: number): void => {
    const piece = text.slice(from, to)
    const trimmed = piece.trim()
    const at = from + piece.indexOf(trimmed)
    if (trimmed !== '') places.push({ start: at, end: at + trimmed.length, label })
  }
  // A token may begin before the match.
  const around = Math.max(0, start - MAX_TOKEN_CHARS)
  for (const { 0: token, index } of text.slice(around, end + MAX_TOKEN_CHARS).matchAll(TOKEN)) {
    const at = around + index
    if (at + token.length <= from || at >= end) continue
    add(Math.max(from, at))
    from = at + token.length
  }
  if (from < end) add(end)
  return places
}
