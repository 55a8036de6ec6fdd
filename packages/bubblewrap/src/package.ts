import type { Package } from '@sandbridge/core/cli/package.ts'
import { bubblewrap as bubblewrapPart } from '@sandbridge/core/parts'

export const bubblewrap: Package = {
  parts: [bubblewrapPart.at(() => import('./part.ts'))],
}
