import type { Package } from '@sandbridge/core/cli/package.ts'
import { gates, rules } from '@sandbridge/core/parts'

export const permissions: Package = {
  parts: [gates.at(() => import('./part.ts')), rules.at(() => import('./rules/part.ts'))],
}
