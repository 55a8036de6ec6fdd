import { expect, it } from 'vitest'
import type { SearchDocument } from './index/fields.ts'
import { SearchIndex } from './index/search-index.ts'
import { isSaid, isWeak } from './weak-answer.ts'
import { readMeanings } from './known-meanings.ts'

const EMPTY: SearchDocument = {
  server: 's',
  name: '',
  title: '',
  summary: '',
  description: '',
  parameters: [],
  nestedParameters: [],
  parameterTexts: [],
  safety: 0,
}

const meanings = await readMeanings()

function indexOf(count: number): SearchIndex<string> {
  const index = new SearchIndex<string>(meanings)
  const add = (server: string, name: string, summary: string): void =>
    index.add(name, { ...EMPTY, server, name, summary })
  add('notes', 'create_note', 'Create a note')
  add('notes', 'get_message', 'Get a message with its text')
  add('music', 'play_song', 'Play a song')
  for (let at = 0; at < count; at += 1) add('shop', `list_orders_${at}`, `List the orders of shop ${at}`)
  return index
}

function isWeakAnswer(index: SearchIndex<string>, query: string, isOneOfSeveral = false): boolean {
  return isWeak(index.rank(query).best(5), isOneOfSeveral)
}

it.each([0, 300])('an answer is weak when no tool has what the query is about, beside %i more tools', (count) => {
  const index = indexOf(count)
  for (const query of ['book a flight', 'weather in Berlin'])
    expect([query, isWeakAnswer(index, query)]).toEqual([query, true])
  for (const query of ['create a note', 'play some music', 'write a note', 'get a message'])
    expect([query, isWeakAnswer(index, query)]).toEqual([query, false])
})

it('an answer without the words of the query is a guess', () => {
  const index = indexOf(0)
  const isGuess = (query: string): boolean => !isSaid(index.rank(query).best(5))
  for (const query of ['send an email', 'get the mail']) expect([query, isGuess(query)]).toEqual([query, true])
  for (const query of ['create a note', 'play some music', 'get a message'])
    expect([query, isGuess(query)]).toEqual([query, false])
})

it('one of several wordings needs more evidence than a wording alone', () => {
  const index = indexOf(0)
  for (const query of ['create an invoice', 'send an email'])
    expect([query, isWeakAnswer(index, query, true)]).toEqual([query, true])
  for (const query of ['create a note', 'play a song'])
    expect([query, isWeakAnswer(index, query, true)]).toEqual([query, false])
})

it('an answer with the tool that the query names is never weak', () => {
  const ranked = indexOf(0).rank('play song')
  expect(
    isWeak(
      ranked.best(5, (name) => name === 'create_note'),
      false,
    ),
  ).toBe(true)
  expect(isWeak(ranked.best(5), false)).toBe(false)
})

it('an answer is not judged without word vectors, or without a word', () => {
  const index = indexOf(0)
  const bare = new SearchIndex<string>()
  bare.add('x', { ...EMPTY, name: 'x' })
  expect(isWeakAnswer(bare, 'send an email')).toBe(false)
  expect(isWeakAnswer(index, '')).toBe(false)
})
