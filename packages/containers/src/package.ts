import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { containers as containersPart } from '@sandbridge/core/parts'
import { images } from '@sandbridge/native/choose/images-part.ts'

export const containers: Package = {
  parts: [containersPart.at(() => import('./part.ts')), images.at(() => import('./images/open-root.ts'))],
}
