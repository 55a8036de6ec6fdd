import { memories as memoriesFeature } from './feature.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const memories: Package = {
  features: [memoriesFeature],
}
