import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { formerNames, gates, rules } from '@sandbridge/core/parts'

export const permissions: Package = {
  parts: [
    gates.at(() => import('./part.ts')),
    rules.at(() => import('./rules/part.ts')),
    formerNames.at(() => import('./rules/former-names.ts')),
  ],
}
