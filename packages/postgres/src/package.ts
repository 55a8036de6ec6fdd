import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { postgres as postgresPart } from '@sandbridge/core/parts'

export const postgres: Package = {
  parts: [postgresPart.at(() => import('./postgres-stores.ts'))],
}
