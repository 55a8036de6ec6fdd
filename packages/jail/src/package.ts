import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { jails } from '@sandbridge/core/parts'

export const jail: Package = {
  parts: [jails.at(() => import('./part.ts'))],
}
