import { flow as flowPart } from '@sandbridge/core/parts'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'

export const flow: Package = {
  parts: [flowPart.at(() => import('./session-flow.ts'))],
}
