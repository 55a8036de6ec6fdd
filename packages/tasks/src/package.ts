import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { tasks as tasksPart } from '@sandbridge/core/parts'

export const tasks: Package = {
  parts: [tasksPart.at(() => import('./part.ts'))],
}
