import { expect, it } from 'vitest'
import { wordingsIn } from './wordings.ts'

it('a few words are one wording, and a list is several', () => {
  expect(wordingsIn('create issue')).toEqual(['create issue'])
  expect(wordingsIn('e.g. a list. ')).toEqual(['e.g. a list. '])
  expect(wordingsIn(['create issue', 'open a ticket'])).toEqual(['create issue', 'open a ticket'])
  expect(wordingsIn([])).toEqual([])
})

it('each sentence of a pasted text is searched as well as the whole', () => {
  const text = 'Ms Ito was charged twice. Refund one of them; then tell her by mail, and then close the case!'
  expect(wordingsIn(text)).toEqual([
    text,
    'Ms Ito was charged twice',
    'Refund one of them',
    'tell her by mail',
    'close the case!',
  ])
})

it('each clause of a long sentence is searched as well as the whole', () => {
  const sentence = 'find the three cheapest flights to Lisbon, and please also send what they cost to the whole team'
  expect(wordingsIn(sentence)).toEqual([
    sentence,
    'find the three cheapest flights to Lisbon',
    'send what they cost to the whole team',
  ])
})

it.each([
  ['a short sentence', 'open the file and read it'],
  ['an enumeration', 'make a chart of what the shops that we have in Rome, Milan, Genoa and Turin sold'],
])('%s is one wording', (_, sentence) => {
  expect(wordingsIn(sentence)).toEqual([sentence])
})

it('a text of any length is cut, and gives few wordings', () => {
  for (const part of [
    'word ',
    'one two three. ',
    '. ',
    '\n',
    ' then',
    ', and then',
    ' and ',
    'one two three and ',
    'word, also ',
  ]) {
    const found = wordingsIn(part.repeat(100_000))
    expect(found.length).toBeLessThanOrEqual(9)
    expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(2000)
  }
})
