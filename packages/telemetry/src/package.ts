import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { telemetry as telemetryPart } from '@sandbridge/core/parts'

export const telemetry: Package = {
  parts: [telemetryPart.at(() => import('./part.ts'))],
}
