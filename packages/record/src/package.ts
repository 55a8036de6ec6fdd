import { log } from './log/feature.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'
import { dailyCosts, record as recordPart } from '@sandbridge/core/parts'

export const record: Package = {
  features: [log],
  parts: [dailyCosts.at(() => import('./costs/part.ts')), recordPart.at(() => import('./audit/part.ts'))],
}
