// The searched fields of a tool and their weights. Pure.
import { chunksOf, type Chunk } from './tokenize.ts'

export interface SearchDocument {
  server: string
  name: string
  title: string
  /** The first sentence of the description, and the rest of it. */
  summary: string
  description: string
  /** Names of parameters, as the server writes them. */
  parameters: readonly string[]
  /** Names of the properties inside parameters, at any depth. */
  nestedParameters: readonly string[]
  /** Descriptions and allowed values of all parameters. */
  parameterTexts: readonly string[]
  /** 1 for a read-only tool, 0 for unknown, -1 for a destructive one. Decides between near-equals. */
  safety: number
}

interface Field {
  weight: number
  /** The share of the weight that depends on the field's length. */
  lengthShare: number
  /** Typical length in words. A constant, so that adding a tool does not affect the others. */
  usualLength: number
}

export interface TextField extends Field {
  key: 'title' | 'summary' | 'description' | 'parameterTexts' | 'server'
  /** Running text: its rare words are not used to correct the spelling of others. */
  isProse: boolean
  /** Longest text read, in characters. */
  limit: number
}

export interface NameField extends Field {
  key: 'name' | 'parameters' | 'nestedParameters'
}

/** Leave-one-server-out evaluations: the best weights lie on a plateau around these. */
export const NAME_FIELDS: readonly NameField[] = [
  { key: 'name', weight: 4, lengthShare: 0.3, usualLength: 3 },
  { key: 'parameters', weight: 1.6, lengthShare: 0.4, usualLength: 7 },
  { key: 'nestedParameters', weight: 1, lengthShare: 0.4, usualLength: 8 },
]
export const TEXT_FIELDS: readonly TextField[] = [
  { key: 'title', weight: 2, lengthShare: 0.3, usualLength: 3, limit: 160, isProse: false },
  { key: 'summary', weight: 2, lengthShare: 0.3, usualLength: 11, limit: 400, isProse: false },
  { key: 'description', weight: 0.8, lengthShare: 0.3, usualLength: 45, limit: 2500, isProse: true },
  { key: 'parameterTexts', weight: 1, lengthShare: 0.3, usualLength: 50, limit: 4000, isProse: true },
  { key: 'server', weight: 1.2, lengthShare: 0, usualLength: 1, limit: 80, isProse: false },
]

/** The texts of a document as words. Splitting is most of the cost of indexing, so all readers share it. */
export type ReadTexts = Readonly<Record<TextField['key'], readonly Chunk[]>>

export function readTexts(document: SearchDocument): ReadTexts {
  const read: Partial<Record<TextField['key'], Chunk[]>> = {}
  for (const { key, limit } of TEXT_FIELDS) {
    read[key] =
      key === 'parameterTexts' ? readAll(document.parameterTexts, limit) : chunksOf(document[key].slice(0, limit))
  }
  return read as ReadTexts
}

function readAll(texts: readonly string[], limit: number): Chunk[] {
  const all: Chunk[] = []
  let left = limit
  for (const text of texts) {
    if (left <= 0) break
    for (const chunk of repeatedText(text.slice(0, left))) all.push(chunk)
    left -= text.length
  }
  return all
}

const TEXT_CACHE_LIMIT = 10_000
const textCache = new Map<string, readonly Chunk[]>()

/** Cached, because the tools of a server describe the same parameters with the same text. */
function repeatedText(text: string): readonly Chunk[] {
  let read = textCache.get(text)
  if (read === undefined) {
    if (textCache.size >= TEXT_CACHE_LIMIT) textCache.clear()
    textCache.set(text, (read = chunksOf(text)))
  }
  return read
}
