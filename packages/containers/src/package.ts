import type { Package } from '@sandbridge/core/cli/package.ts'
import { containers as containersPart, images } from '@sandbridge/core/parts'

export const containers: Package = {
  parts: [containersPart.at(() => import('./part.ts')), images.at(() => import('./images/open-root.ts'))],
}
