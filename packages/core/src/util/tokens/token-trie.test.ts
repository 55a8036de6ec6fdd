import { expect, it } from 'vitest'
import { TokenTrie } from './estimate-tokens.ts'

const trie = (step: 1 | -1, ...tokens: string[]) => new TokenTrie(tokens.join('\x7f'), step)

it('the longest of several tokens is found, also when a part of a longer one follows', () => {
  const words = trie(1, 'a', 'abc', 'abcdef', 'b')
  expect([words.longestAt('abcde', 0), words.longestAt('abcdef', 0), words.longestAt('xab', 1)]).toEqual([3, 6, 1])
})

it('a token is found backwards from its end', () => {
  const words = trie(-1, 'c', 'abc', 'bc')
  expect([words.longestAt('xabc', 3), words.longestAt('bbc', 2), words.longestAt('cc', 0)]).toEqual([3, 2, 1])
})

it('nothing is found where no token is, nor outside of the text', () => {
  const words = trie(1, 'ab', '\0')
  expect([words.longestAt('ba', 0), words.longestAt('a', 0), words.longestAt('', 0)]).toEqual([0, 0, 0])
  expect([trie(1, 'a').longestAt('a', 1), trie(-1, 'a').longestAt('a', -1)]).toEqual([0, 0])
})

it('tens of thousands of tokens are told apart', () => {
  const tokens = Array.from({ length: 10_000 }, (_, index) => String.fromCharCode(0x100 + index) + index.toString(36))
  for (const step of [1, -1] as const) {
    const words = trie(step, ...tokens)
    const wrong = tokens.filter((token) => words.longestAt(token, step === 1 ? 0 : token.length - 1) !== token.length)
    expect(wrong).toEqual([])
    expect(words.longestAt('\u4e00', 0)).toBe(0)
  }
})
