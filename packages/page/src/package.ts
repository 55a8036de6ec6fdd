import type { Package } from '@sandbridge/core/cli/package.ts'
import { page as pagePart } from '@sandbridge/core/serve/page-part.ts'

export const page: Package = {
  parts: [pagePart.at(() => import('./part.ts'))],
}
