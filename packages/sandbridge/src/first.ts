// What features do before anything else is loaded: loading packages/sandbridge/src/packages.ts takes longer than a
// resident bridge takes to answer. Without its folder, and its lines here and there, a feature is gone.
import type { TakeOver } from '@sandbridge/core/serve/cli/package.ts'
import { resident } from '@sandbridge/resident/take-over.ts'

export const TAKE_OVERS: readonly TakeOver[] = [resident]
