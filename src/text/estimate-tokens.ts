// What a text costs a model, in tokens, without a tokenizer: it is cut, greedily, into the commonest tokens of o200k_base, a tenth of all.
// A tokenizer that knows them all seldom needs more, so that the estimate is hardly ever too low. Pure, and linear.
// estimate-tokens.test.ts holds it to that over many kinds of text: at most 10 % too low, and on ordinary text at most 90 % too high.
// scripts/choose-tokens.mjs has chosen the tokens.
import COMMON_TOKENS from './common-tokens.json' with { type: 'json' }

/** Of the tokens that begin, or end, with one code unit: how long they are, the longest first. */
type Lengths = Map<number, number[]>

// Each is made at its first need: it takes some milliseconds.
let tokens: Set<string> | undefined
let byFirst: Lengths | undefined
let byLast: Lengths | undefined

function commonTokens(): Set<string> {
  tokens ??= new Set(COMMON_TOKENS.split('\x7f'))
  return tokens
}

function lengthsBy(unitOf: (token: string) => number): Lengths {
  const found: Lengths = new Map()
  for (const token of commonTokens()) {
    const lengths = found.get(unitOf(token))
    if (lengths === undefined) found.set(unitOf(token), [token.length])
    else if (!lengths.includes(token.length)) lengths.push(token.length)
  }
  for (const lengths of found.values()) lengths.sort((a, b) => b - a)
  return found
}

/** Tokens that `text` costs by estimate. Counting stops when there are more than `limit`. */
export function estimateTokens(text: string, limit = Infinity): number {
  return countUpTo(text, limit).count
}

/** Whether a text of so many characters costs at most `limit` tokens, whatever they are: no token is shorter than a byte, and no character longer than three. */
export function surelyFits(length: number, limit: number): boolean {
  return length * 3 <= limit
}

/** Whether `text` costs at most `limit` tokens by estimate. */
export function fitsTokens(text: string, limit: number): boolean {
  return surelyFits(text.length, limit) || estimateTokens(text, limit) <= limit
}

/** How many characters from the start of `text` cost at most `limit` tokens. */
export function headWithin(text: string, limit: number): number {
  return countUpTo(text, limit).end
}

/** `end`: where the first token stands that is over the limit, or the text's end; `count` has that token in it. */
function countUpTo(text: string, limit: number): { count: number; end: number } {
  byFirst ??= lengthsBy((token) => token.charCodeAt(0))
  let count = 0
  let end = 0
  while (end < text.length) {
    const length = tokenAt(text, end, commonTokens(), byFirst)
    count += costOf(text, end, length)
    if (count > limit) break
    end += length || widthAt(text, end)
  }
  return { count, end }
}

/** How many characters at the end of `text` cost at most `limit` tokens. */
export function tailWithin(text: string, limit: number): number {
  byLast ??= lengthsBy((token) => token.charCodeAt(token.length - 1))
  let count = 0
  let end = text.length
  while (end > 0) {
    const length = tokenBefore(text, end, commonTokens(), byLast)
    const start = length ? end - length : end - widthBefore(text, end)
    count += costOf(text, start, length)
    if (count > limit) break
    end = start
  }
  return text.length - end
}

/** The length of the longest token at a place; 0 when none is known. */
function tokenAt(text: string, at: number, known: Set<string>, all: Lengths): number {
  const lengths = all.get(text.charCodeAt(at)) ?? []
  return lengths.find((length) => at + length <= text.length && known.has(text.slice(at, at + length))) ?? 0
}

function tokenBefore(text: string, end: number, known: Set<string>, all: Lengths): number {
  const lengths = all.get(text.charCodeAt(end - 1)) ?? []
  return lengths.find((length) => length <= end && known.has(text.slice(end - length, end))) ?? 0
}

/** A character that is in no token that we know costs one for each of its bytes. */
function costOf(text: string, at: number, length: number): number {
  if (length > 0) return 1
  const code = text.codePointAt(at)!
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}

const widthAt = (text: string, at: number): number => (text.codePointAt(at)! > 0xffff ? 2 : 1)

function widthBefore(text: string, end: number): number {
  return end > 1 && text.codePointAt(end - 2)! > 0xffff ? 2 : 1
}
