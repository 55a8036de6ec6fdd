import { doctor as doctorFeature } from './feature.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const doctor: Package = {
  features: [doctorFeature],
}
