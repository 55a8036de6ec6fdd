import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { kubernetes as kubernetesPart } from '@sandbridge/core/parts'

export const kubernetes: Package = {
  parts: [kubernetesPart.at(() => import('./part.ts'))],
}
