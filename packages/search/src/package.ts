import { search as slot } from '@sandbridge/core/parts'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'

export const search: Package = {
  parts: [slot.at(() => import('./part.ts'))],
}
