import { learning } from '@sandbridge/core/parts'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'

export const learned: Package = {
  parts: [learning.at(() => import('./session-use.ts'))],
}
