// The meaning of words, as the search knows it.
import type { ReadTexts, SearchDocument } from './index/fields.ts'
import type { Postings } from './index/postings.ts'

export interface Meanings {
  isKnown: (word: string) => boolean
  /** Reads further words, which the first unknown word would otherwise wait for. @returns whether any are left */
  readAhead: () => boolean
  neighboursIn: (postings: Postings) => Neighbours
  ofDocuments: () => DocumentMeanings
}

/** A term that may stand for a word of a query, and its weight. The word itself has weight 1. */
export interface Alternative {
  term: string
  weight: number
}

export interface Neighbours {
  /** Up to eight terms near a word, nearest first; undefined for a word that has no meaning here. */
  of(word: string, term: string): Alternative[] | undefined
}

export interface DocumentMeanings {
  add(document: SearchDocument, texts: ReadTexts): void
  /** Similarity of the words and each document, from 0 to 1, by document number; undefined when no word is known. */
  likeness(words: readonly string[]): Float64Array | undefined
}
