import { languages } from '@sandbridge/core/cell/languages-part.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const javascript: Package = {
  parts: [languages.at(() => import('./language-files.ts'))],
}
