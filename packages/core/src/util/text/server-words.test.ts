import { expect, it } from 'vitest'
import { cleanWords, isPlainlySeen, onOneLine } from './server-words.ts'

it.each([
  ['colours', '\u001b[31mred\u001b[0m', 'red'],
  ['a title of the terminal', 'a\u001b]0;owned\u0007b', 'ab'],
  ['a link of the terminal', '\u001b]8;;https://evil.example\u001b\\here\u001b]8;;\u001b\\', 'here'],
  ['an eight-bit sequence', 'a\u009b2Jb', 'ab'],
  ['the direction of writing', 'abc\u202eexe.txt\u2066', 'abcexe.txt'],
  ['nothing of any width', 'a\u200b\u200d\ufeffb', 'ab'],
  ['tags', `a${String.fromCodePoint(0xe0041)}b`, 'ab'],
  ['NUL and backspaces', 'a\0\b\bc', 'ac'],
  ['line ends of all kinds', 'a\r\nb\rc\u2028d\u0085e\tf', 'a\nb\nc\nd\ne\tf'],
  ['half a character', 'a\ud800b', 'a\ufffdb'],
  ['other scripts', 'créer 検索 🔥 שלום', 'créer 検索 🔥 שלום'],
])('text of a server is cleaned of %s', (_what, text, expected) => {
  expect(cleanWords(text)).toBe(expected)
  expect(isPlainlySeen(text)).toBe(text === expected)
})

it('text of a server is brought to one line', () => {
  expect(onOneLine(' a\n\n b\u001b[1m\tc ')).toBe('a b c')
})
