// What a text costs a model, in tokens, without a tokenizer: it is cut, greedily, into the commonest tokens of o200k_base, a tenth of all.
// A tokenizer that knows them all seldom needs more, so that the estimate is hardly ever too low. Pure, and linear.
// estimate-tokens.test.ts holds it to that over many kinds of text: at most 10 % too low, and on ordinary text at most 90 % too high.
// scripts/choose-tokens.mjs has chosen the tokens.
import COMMON_TOKENS from './common-tokens.json' with { type: 'json' }

/** Of the tokens that begin, or end, with one code unit: how long they are, the longest first. */
type Lengths = Map<number, number[]>

interface Vocabulary {
  tokens: Set<string>
  byFirst: Lengths
  byLast: Lengths
}

let known: Vocabulary | undefined

/** Made at the first need, which a short result never has: it takes some milliseconds. */
function vocabulary(): Vocabulary {
  if (known === undefined) {
    const tokens = COMMON_TOKENS.split('\x7f')
    known = {
      tokens: new Set(tokens),
      byFirst: lengthsBy(tokens, (token) => token.charCodeAt(0)),
      byLast: lengthsBy(tokens, (token) => token.charCodeAt(token.length - 1)),
    }
  }
  return known
}

function lengthsBy(tokens: string[], unitOf: (token: string) => number): Lengths {
  const found = new Map<number, Set<number>>()
  for (const token of tokens) {
    const unit = unitOf(token)
    const lengths = found.get(unit)
    if (lengths === undefined) found.set(unit, new Set([token.length]))
    else lengths.add(token.length)
  }
  return new Map([...found].map(([unit, lengths]) => [unit, [...lengths].toSorted((a, b) => b - a)]))
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
  const { tokens, byFirst } = vocabulary()
  let count = 0
  let end = 0
  while (end < text.length) {
    const length = tokenAt(text, end, tokens, byFirst)
    count += costOf(text, end, length)
    if (count > limit) break
    end += length || widthAt(text, end)
  }
  return { count, end }
}

/** How many characters at the end of `text` cost at most `limit` tokens. */
export function tailWithin(text: string, limit: number): number {
  const { tokens, byLast } = vocabulary()
  let count = 0
  let end = text.length
  while (end > 0) {
    const length = tokenBefore(text, end, tokens, byLast)
    const start = length ? end - length : end - widthBefore(text, end)
    count += costOf(text, start, length)
    if (count > limit) break
    end = start
  }
  return text.length - end
}

/** The length of the longest token at a place; 0 when none is known. */
function tokenAt(text: string, at: number, tokens: Set<string>, byFirst: Lengths): number {
  const lengths = byFirst.get(text.charCodeAt(at)) ?? []
  return lengths.find((length) => at + length <= text.length && tokens.has(text.slice(at, at + length))) ?? 0
}

function tokenBefore(text: string, end: number, tokens: Set<string>, byLast: Lengths): number {
  const lengths = byLast.get(text.charCodeAt(end - 1)) ?? []
  return lengths.find((length) => length <= end && tokens.has(text.slice(end - length, end))) ?? 0
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
