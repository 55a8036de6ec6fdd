import type { Package } from '@sandbridge/core/cli/package.ts'
import { bubblewrap as bubblewrapPart } from '@sandbridge/core/isolation/bubblewrap-part.ts'

export const bubblewrap: Package = {
  parts: [bubblewrapPart.at(() => import('./part.ts'))],
}
