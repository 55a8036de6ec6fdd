// The features that can take a process over before anything else is loaded. Without its folder and its line here, one is
// gone. All others are listed in src/features.ts, which takes longer to load than a resident bridge takes to answer.
import type { Feature } from '../cli/feature.ts'
import { resident } from './resident/feature.ts'

export const FIRST: readonly Feature[] = [resident]
