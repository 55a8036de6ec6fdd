import { resident as residentFeature } from './feature.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const resident: Package = {
  features: [residentFeature],
}
