import { meanings } from '@sandbridge/core/calls/catalog/search/meanings-part.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const vectors: Package = {
  parts: [meanings.at(() => import('./word-vectors-file.ts'))],
}
