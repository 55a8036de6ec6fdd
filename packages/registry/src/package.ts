import { registry as registryFeature } from './feature.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const registry: Package = {
  features: [registryFeature],
}
