// The features that can take a process over before anything else is loaded. Without its folder and its line here, one
// is gone. src/features.ts lists all others: loading it takes longer than a resident bridge takes to answer.
import type { Feature } from '../cli/feature.ts'
import { resident } from './resident/feature.ts'

export const FIRST: readonly Feature[] = [resident]
