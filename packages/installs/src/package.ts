import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { installs as installsPart } from '@sandbridge/core/parts'

export const installs: Package = {
  parts: [installsPart.at(() => import('./installation.ts'))],
}
