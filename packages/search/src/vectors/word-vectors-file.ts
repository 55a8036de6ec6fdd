// Reads the word vectors of the package: `words.txt`, one word per line, and `word-vectors.i4`, signed 4-bit numbers
// for each word, two per byte, the first in the lower half.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { PACKAGE_ROOT } from '@sandbridge/core/util'
import type { Meanings } from '../meanings.ts'
import { ToolVectors } from './tool-vectors.ts'
import { WordNeighbours } from './word-neighbours.ts'
import { WordVectors } from './word-vectors.ts'

const FOLDER = path.join(PACKAGE_ROOT, 'packages/search/assets')
let read: { vectors: WordVectors | undefined } | undefined

let meanings: Meanings | undefined

/** What the core uses of them: always the same object. */
export function wordMeanings(): Meanings | undefined {
  const vectors = wordVectors()
  return vectors && (meanings ??= meaningsOf(vectors))
}

export function meaningsOf(vectors: WordVectors): Meanings {
  return {
    isKnown: (word) => vectors.row(word) !== undefined,
    readAhead: () => vectors.stemAhead(),
    neighboursIn: (postings) => new WordNeighbours(postings, vectors),
    ofDocuments: () => new ToolVectors(vectors),
  }
}

/** Undefined when the files cannot be read: tools are then found by their words alone. */
export function wordVectors(): WordVectors | undefined {
  read ??= { vectors: readVectors() }
  return read.vectors
}

function readVectors(): WordVectors | undefined {
  try {
    const words = readFileSync(path.join(FOLDER, 'words.txt'), 'utf8').trimEnd().split('\n')
    const values = unpacked(readFileSync(path.join(FOLDER, 'word-vectors.i4')))
    return new WordVectors({ words, values, dimensions: Math.floor(values.length / words.length) })
  } catch {
    return undefined
  }
}

function unpacked(packed: Uint8Array): Int8Array {
  const values = new Int8Array(packed.length * 2)
  for (const [index, byte] of packed.entries()) {
    values[index * 2] = (byte << 28) >> 28
    values[index * 2 + 1] = (byte << 24) >> 28
  }
  return values
}
