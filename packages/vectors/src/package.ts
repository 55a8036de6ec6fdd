import { search } from '@sandbridge/core/parts'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'

export const vectors: Package = {
  parts: [search.at(() => import('./part.ts'))],
}
