import { meanings } from '@sandbridge/core/parts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const vectors: Package = {
  parts: [meanings.at(() => import('./word-vectors-file.ts'))],
}
