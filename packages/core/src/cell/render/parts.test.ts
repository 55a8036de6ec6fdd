import { expect, it } from 'vitest'
import { wasPrintedLast } from './parts.ts'

const FRAME = '   name  count\n0     a      1\n1     b      2'
const WIDE = Array.from({ length: 30 }, (_, index) => `'key-${index}': ${index}`)

it.each([
  ['as it is shown', "{'name': 'Ada', 'id': 1}\n", "{'name': 'Ada', 'id': 1}"],
  ['after other lines', "hello\n{'name': 'Ada', 'id': 1}\n", "{'name': 'Ada', 'id': 1}"],
  ['as text, shown as its repr', 'a text with some words\n', "'a text with some words'"],
  ['as text with a quote', "it's a text with some words", '"it\'s a text with some words"'],
  ['as text of several lines', 'so\nfirst line\n\tsecond \\ line\n\n', "'first line\\n\\tsecond \\\\ line\\n\\n'"],
  [
    'as text with signs that repr escapes',
    'signs:\u200b \u00ad \u{e0001} and more\n',
    "'signs:\\u200b \\xad \\U000e0001 and more'",
  ],
  ['in colours, which are left out', 'red and some more words\n', "'\\x1b[31mred and some more words\\x1b[0m'"],
  [
    'on one line, shown in several',
    `{${WIDE.join(', ')}}\n`,
    `{${WIDE.slice(0, 9).join(', ')},\n ${WIDE.slice(9).join(', ')}}`,
  ],
  ['as a data frame', `so\n${FRAME}\n`, `${FRAME}\n[2 rows × 2 columns]`],
])('a value that was printed last is not shown again: %s', (_, printed, value) => {
  expect(wasPrintedLast(printed, value)).toBe(true)
})

it.each([
  ['a short one, which may be another', 'a\n[1, 2]\n', '[1, 2]'],
  ['the end of a line', "found {'name': 'Ada', 'id': 1}\n", "{'name': 'Ada', 'id': 1}"],
  ['something that was printed before other lines', "{'name': 'Ada', 'id': 1}\nhello\n", "{'name': 'Ada', 'id': 1}"],
  ['a longer one', "{'name': 'Ada', 'id': 1}\n", "{'name': 'Ada', 'id': 1, 'more': []}"],
  ['nothing', '', "'                    '"],
  ['an escape that is none', 'x'.repeat(20), "'\\Uffffffff\\U00110000\\x1 and more'"],
])('a value that was not printed last is shown: %s', (_, printed, value) => {
  expect(wasPrintedLast(printed, value)).toBe(false)
})
