import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { http as httpPart } from '@sandbridge/core/parts'
import { HTTP_SETTINGS } from './settings.ts'

export const http: Package = {
  features: [{ name: 'HTTP', settings: HTTP_SETTINGS }],
  parts: [httpPart.at(() => import('./part.ts'))],
}
