import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { bubblewrap as bubblewrapPart } from '@sandbridge/native/choose/bubblewrap-part.ts'

export const bubblewrap: Package = {
  parts: [bubblewrapPart.at(() => import('./part.ts'))],
}
