import { packages } from './command/feature.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'
import { pythonPackages } from '@sandbridge/core/parts'

export const cellPackages: Package = {
  features: [packages],
  parts: [pythonPackages.at(() => import('./package-files.ts'))],
}
