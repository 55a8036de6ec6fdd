import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { natives, outerWall } from '@sandbridge/core/parts'

export const native: Package = {
  parts: [natives.at(() => import('./choose/choose-provider.ts')), outerWall.at(() => import('./outer-bubblewrap.ts'))],
}
