import { once as oncePart } from '@sandbridge/core/parts'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'

export const once: Package = {
  parts: [oncePart.at(() => import('./journals.ts'))],
}
