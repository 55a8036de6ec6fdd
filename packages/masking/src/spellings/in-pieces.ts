// Searches a long text piece by piece, so that others get their turn in between. Pure.
import type { Match } from '../by-patterns.ts'
import { privateKeys, webTokens } from '../long-secrets.ts'
import { findValues, type Found } from './find-values.ts'

/** As much as is searched at once, in well under 50 ms. */
export const PIECE_CHARS = 1 << 16
/** Read around a piece for what begins before its end. */
const BEFORE_CHARS = 1 << 12
const AFTER_CHARS = 1 << 15

type Find = (text: string) => Match[]

/** Yields what each piece has, in order. See `findValues`. */
export function* findInPieces(text: string, find: Find, isKnown?: (value: string) => boolean): Generator<Found[]> {
  const long = text.length > PIECE_CHARS ? longSecrets(text, find) : []
  for (let from = 0; from < text.length;) {
    const to = from + PIECE_CHARS
    const start = Math.max(0, from - BEFORE_CHARS)
    const window = text.slice(start, to + AFTER_CHARS)
    const found = findValues(window, find, isKnown)
      .map((one) => ({ ...one, start: one.start + start, end: one.end + start }))
      .filter((one) => one.start >= from && one.start < to && !long.some((other) => overlap(one, other)))
      .concat(long.filter((one) => one.start >= from && one.start < to))
      .toSorted((a, b) => a.start - b.start)
    const last = found.at(-1)
    if (last && last.end < text.length && last.end === start + window.length) extend(last, text)
    yield found
    from = Math.max(to, last?.end ?? 0)
  }
}

/** Of these, a piece may have the beginning only. */
function longSecrets(text: string, find: Find): Found[] {
  const [key] = find('-----BEGIN PRIVATE KEY-----')
  if (!key) return []
  return [...privateKeys(text), ...webTokens(text)]
    .filter(({ start, end }) => end - start > BEFORE_CHARS)
    .map(({ start, end }) => ({ start, end, label: key.label, value: text.slice(start, end) }))
}

const overlap = (one: Match, other: Match): boolean => one.start < other.end && other.start < one.end

/** A value that is longer than what was read ends at a space. */
function extend(found: Found, text: string): void {
  REST_OF_WORD.lastIndex = found.end
  found.end += REST_OF_WORD.exec(text)![0].length
  if (found.value !== undefined) found.value = text.slice(found.start, found.end)
}

const REST_OF_WORD = /\S*/y
