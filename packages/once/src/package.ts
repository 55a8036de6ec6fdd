import { once as oncePart } from '@sandbridge/core/calls/once-part.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const once: Package = {
  parts: [oncePart.at(() => import('./journals.ts'))],
}
