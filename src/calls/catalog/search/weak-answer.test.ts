import { expect, it } from 'vitest'
import type { SearchDocument } from './fields.ts'
import { SearchIndex } from './search-index.ts'
import { wordVectors } from '../word-vectors-file.ts'

const EMPTY: SearchDocument = {
  server: 's',
  name: '',
  title: '',
  summary: '',
  description: '',
  parameters: [],
  nestedParameters: [],
  parameterTexts: [],
  isDeprecated: false,
  safety: 0,
}

function indexOf(count: number): SearchIndex<string> {
  const index = new SearchIndex<string>(wordVectors())
  const add = (server: string, name: string, summary: string): void =>
    index.add(name, { ...EMPTY, server, name, summary })
  add('notes', 'create_note', 'Create a note')
  add('notes', 'get_message', 'Get a message with its text')
  add('music', 'play_song', 'Play a song')
  for (let at = 0; at < count; at += 1) add('shop', `list_orders_${at}`, `List the orders of shop ${at}`)
  return index
}

function isWeak(index: SearchIndex<string>, query: string): boolean {
  const found = index.search(query, 5).map(({ item }) => item)
  return index.isWeak(query, found)
}

it.each([0, 300])('an answer is weak when no tool has what the query is about, beside %i more tools', (count) => {
  const index = indexOf(count)
  for (const query of ['book a flight', 'weather in Berlin'])
    expect([query, isWeak(index, query)]).toEqual([query, true])
  for (const query of ['create a note', 'play some music', 'write a note', 'get a message'])
    expect([query, isWeak(index, query)]).toEqual([query, false])
})

it('an answer without the words of the query is a guess', () => {
  const index = indexOf(0)
  const isGuess = (query: string): boolean =>
    !index.isSaid(
      query,
      index.search(query, 5).map(({ item }) => item),
    )
  for (const query of ['send an email', 'get the mail']) expect([query, isGuess(query)]).toEqual([query, true])
  for (const query of ['create a note', 'play some music', 'get a message'])
    expect([query, isGuess(query)]).toEqual([query, false])
})

it('one of several wordings needs more evidence than a wording alone', () => {
  const index = indexOf(0)
  const isWeakBeside = (query: string): boolean =>
    index.isWeak(
      query,
      index.search(query, 5).map(({ item }) => item),
      undefined,
      true,
    )
  for (const query of ['create an invoice', 'send an email'])
    expect([query, isWeakBeside(query)]).toEqual([query, true])
  for (const query of ['create a note', 'play a song']) expect([query, isWeakBeside(query)]).toEqual([query, false])
})

it('an answer to the name of a tool is never weak', () => {
  const index = indexOf(0)
  expect(index.isWeak('play song', ['create_note'])).toBe(true)
  expect(index.isWeak('play song', ['create_note', 'play_song'])).toBe(false)
})

it('an answer is not judged without word vectors, without a word, or when another source gives the meaning', () => {
  const index = indexOf(0)
  const bare = new SearchIndex<string>()
  bare.add('x', { ...EMPTY, name: 'x' })
  expect(bare.isWeak('send an email', ['x'])).toBe(false)
  expect(index.isWeak('', ['play_song'])).toBe(false)
  expect(index.isWeak('send an email', ['play_song'], () => 0)).toBe(false)
})
