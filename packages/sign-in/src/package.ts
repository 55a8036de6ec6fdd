import { access } from './access/feature.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'
import { oauth } from '@sandbridge/core/parts'

export const signIn: Package = {
  features: [access],
  parts: [oauth.at(() => import('./oauth/part.ts'))],
}
