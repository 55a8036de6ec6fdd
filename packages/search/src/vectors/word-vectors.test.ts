import { expect, it } from 'vitest'
import type { SearchDocument } from '../index/fields.ts'
import { SearchIndex } from '../index/search-index.ts'
import { meaningsOf } from './word-vectors-file.ts'
import { WordVectors } from './word-vectors.ts'

const document = (server: string, name: string): SearchDocument => ({
  server,
  name,
  summary: '',
  title: '',
  description: '',
  parameters: [],
  nestedParameters: [],
  parameterTexts: [],
  safety: 0,
})

it('word vectors find a tool that shares no word with the query', () => {
  const vectors = new WordVectors({
    words: ['volume', 'louder', 'invoice', 'billing'],
    values: new Int8Array([7, 1, 7, 0, 0, 7, 1, 7]),
    dimensions: 2,
  })
  const withVectors = new SearchIndex<string>(meaningsOf(vectors))
  withVectors.add('music', document('music', 'set_volume'))
  withVectors.add('billing', document('billing', 'create_invoice'))
  expect(withVectors.rank('louder').best(1)[0]?.item).toBe('music')
})

it.each([
  ['invoices', 2],
  ['invoicing', 2],
  ['volumes', 0],
  ['louder', 1],
  ['invoke', undefined],
])('the vector of %j is that of its known form', (word, row) => {
  const vectors = new WordVectors({
    words: ['volume', 'louder', 'invoiced'],
    values: new Int8Array([7, 1, 7, 0, 0, 7]),
    dimensions: 2,
  })
  expect(vectors.row(word)).toBe(row)
})
