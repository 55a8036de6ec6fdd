import type { Package } from '@sandbridge/core/cli/package.ts'
import { containers as containersPart } from '@sandbridge/core/isolation/container-part.ts'
import { images } from '@sandbridge/core/isolation/images-part.ts'

export const containers: Package = {
  parts: [containersPart.at(() => import('./part.ts')), images.at(() => import('./images/open-root.ts'))],
}
