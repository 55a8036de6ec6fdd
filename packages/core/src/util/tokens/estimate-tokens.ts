// Estimates the tokens of a text: splits it greedily into the most common tokens of o200k_base, a tenth of them.
// Linear. estimate-tokens.test.ts: at most 10 % too low, and on ordinary text at most 90 % too high.
// scripts/choose-tokens.mjs selects the tokens. Pure.
import COMMON_TOKENS from './common-tokens.json' with { type: 'json' }
import { TokenTrie } from './token-trie.ts'

// Each is built at first use, which takes some milliseconds.
let beginning: TokenTrie | undefined
let ending: TokenTrie | undefined

/** Returns the estimated tokens of `text`. Stops counting above `limit`. */
export function estimateTokens(text: string, limit = Infinity): number {
  return countUpTo(text, limit).count
}

/** True if the texts surely cost at most `limit` tokens: a token has a byte or more, a code unit at most three. */
export function surelyFit(texts: readonly string[], limit: number): boolean {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  return length * 3 <= limit || (length <= limit && texts.every((text) => IS_ASCII.test(text)))
}

// oxlint-disable-next-line no-control-regex
const IS_ASCII = /^[\0-\x7f]*$/

/** True if `text` costs at most `limit` tokens by the estimate. */
export function fitsTokens(text: string, limit: number): boolean {
  return surelyFit([text], limit) || estimateTokens(text, limit) <= limit
}

/** Returns the length of the longest prefix of `text` that costs at most `limit` tokens. */
export function headWithin(text: string, limit: number): number {
  return countUpTo(text, limit).end
}

/** `end`: start of the first token above the limit, or the end of the text. `count` includes that token. */
function countUpTo(text: string, limit: number): { count: number; end: number } {
  beginning ??= new TokenTrie(COMMON_TOKENS, 1)
  let count = 0
  let end = 0
  while (end < text.length) {
    const length = beginning.longestAt(text, end)
    count += costOf(text, end, length)
    if (count > limit) break
    end += length || widthAt(text, end)
  }
  return { count, end }
}

/** Returns the length of the longest suffix of `text` that costs at most `limit` tokens. */
export function tailWithin(text: string, limit: number): number {
  ending ??= new TokenTrie(COMMON_TOKENS, -1)
  let count = 0
  let end = text.length
  while (end > 0) {
    const length = ending.longestAt(text, end - 1)
    const start = length ? end - length : end - widthBefore(text, end)
    count += costOf(text, start, length)
    if (count > limit) break
    end = start
  }
  return text.length - end
}

/** A character in no known token costs one token per byte. */
function costOf(text: string, at: number, length: number): number {
  if (length > 0) return 1
  const code = text.codePointAt(at)!
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
}

const widthAt = (text: string, at: number): number => (text.codePointAt(at)! > 0xffff ? 2 : 1)

function widthBefore(text: string, end: number): number {
  return end > 1 && text.codePointAt(end - 2)! > 0xffff ? 2 : 1
}
