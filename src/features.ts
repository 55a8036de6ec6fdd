// The features of Sandbridge. Without its folder and its line here, a feature is gone.
import type { Feature } from './cli/feature.ts'
import { registry } from './features/registry/feature.ts'
import { workflows } from './features/workflows/feature.ts'

export const FEATURES: readonly Feature[] = [registry, workflows]
