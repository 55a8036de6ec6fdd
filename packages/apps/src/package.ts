import { apps as part } from '@sandbridge/core/parts'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'

export const apps: Package = { parts: [part.at(() => import('./part.ts'))] }
