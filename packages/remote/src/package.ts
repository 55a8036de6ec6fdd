import type { Package } from '@sandbridge/core/cli/package.ts'
import { remote as remotePart } from '@sandbridge/core/upstream/remote-part.ts'

export const remote: Package = {
  parts: [remotePart.at(() => import('./dial-remote.ts'))],
}
