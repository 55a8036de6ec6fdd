import { languages } from '@sandbridge/core/parts'
import type { Package } from '@sandbridge/core/serve/cli/package.ts'

export const javascript: Package = {
  parts: [languages.at(() => import('./language-files.ts'))],
}
