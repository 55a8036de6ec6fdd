// What packages use of calls/catalog/search.
export type { ReadTexts, SearchDocument } from './fields.ts'
export type { Postings } from './postings.ts'
export type { Reason } from './search-index.ts'
export { type Chunk, chunksOf, isStopWord, stem, tokens } from './tokenize.ts'
export type { Wordings } from './wordings.ts'
