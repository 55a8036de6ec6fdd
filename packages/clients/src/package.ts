import { init } from './init/feature.ts'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { clients as clientsPart } from '@sandbridge/core/parts'

export const clients: Package = {
  features: [init],
  parts: [clientsPart.at(() => import('./readers/client-readers.ts'))],
}
