import type { Package } from '@sandbridge/core/cli/package.ts'
import { http as httpPart } from '@sandbridge/core/parts'

export const http: Package = {
  parts: [httpPart.at(() => import('./part.ts'))],
}
