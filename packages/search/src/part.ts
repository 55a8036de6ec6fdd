// What the core uses of the search.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SearchPart } from '@sandbridge/core/parts'
import { CatalogSearch } from './catalog-search.ts'
import { readMeanings } from './known-meanings.ts'

export { withToolHint } from './tool-hint.ts'

export const createSearch: SearchPart['createSearch'] = (records, isShown) => new CatalogSearch(records, isShown)

export async function readAhead(): Promise<void> {
  const meanings = await readMeanings()
  do await nextTurn()
  while (meanings?.readAhead())
}
