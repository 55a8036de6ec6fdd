import type { Package } from '@sandbridge/core/cli/package.ts'
import { http as httpPart } from '@sandbridge/core/serve/http-part.ts'

export const http: Package = {
  parts: [httpPart.at(() => import('./part.ts'))],
}
