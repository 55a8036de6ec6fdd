import { masking as maskingPart } from '@sandbridge/core/parts'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'

export const masking: Package = {
  parts: [maskingPart.at(() => import('./part.ts'))],
}
