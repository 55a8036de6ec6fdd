import type { Package } from '@sandbridge/core/cli/package.ts'
import { installs as installsPart } from '@sandbridge/core/upstream/installs-part.ts'

export const installs: Package = {
  parts: [installsPart.at(() => import('./installation.ts'))],
}
