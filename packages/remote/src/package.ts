import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { remote as remotePart } from '@sandbridge/core/parts'

export const remote: Package = {
  parts: [remotePart.at(() => import('./part.ts'))],
}
