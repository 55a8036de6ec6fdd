import { workflows as workflowsFeature } from './feature.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const workflows: Package = {
  features: [workflowsFeature],
}
