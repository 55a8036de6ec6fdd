import { expect, it } from 'vitest'
import { parsePythonLiteral } from './python-value.ts'

it.each<[string, unknown]>([
  ["[{'a': 1, 'b': None}]", [{ a: 1, b: null }]],
  [`  ('it\\'s', "x", -2.5e3, 1_000, True,)\n`, ["it\\'s", 'x', -2500, 1000, true]],
  ["{'a': {1: ()}, 'b': [],}", { a: { 1: [] }, b: [] }],
  ["[('a'), ('b',)]", ['a', ['b']]],
])('the Python literal %s is read', (text, value) => {
  expect(parsePythonLiteral(text)).toEqual(value)
})

it.each([
  "'a'",
  '(1)',
  '5',
  "{'a', 'b'}",
  "{'a': 1} x",
  '[1 2]',
  '[,]',
  '[x(1)]',
  "['a' + 'b']",
  '[',
  '(none)',
  '[x](y)',
])('the text %s is no Python list, tuple or dict', (text) => {
  expect(parsePythonLiteral(text)).toBeUndefined()
})

it('a text of many brackets, quotes or spaces is refused in little time', () => {
  for (const text of [
    '['.repeat(200_000),
    `['${'\\'.repeat(200_001)}`,
    `[${' '.repeat(200_000)}`,
    `[${"'a' ".repeat(50_000)}`,
  ])
    expect(parsePythonLiteral(text)).toBeUndefined()
})
