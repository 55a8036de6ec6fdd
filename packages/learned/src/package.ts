import { learning } from '@sandbridge/core/calls/learned-part.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const learned: Package = {
  parts: [learning.at(() => import('./session-use.ts'))],
}
