import { expect, it } from 'vitest'
import { wordVectors } from './word-vectors-file.ts'

it('the vectors of the package know which words are alike', () => {
  const vectors = wordVectors()!
  const alike = (one: string, other: string) => vectors.cosine(vectors.row(one)!, vectors.row(other)!)
  expect(vectors.dimensions).toBe(64)
  expect(alike('invoice', 'billing')).toBeGreaterThan(0.4)
  expect(alike('invoice', 'billing')).toBeGreaterThan(alike('invoice', 'banana'))
})
