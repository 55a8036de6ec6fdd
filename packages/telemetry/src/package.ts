import type { Package } from '@sandbridge/core/cli/package.ts'
import { telemetry as telemetryPart } from '@sandbridge/core/observe/telemetry-part.ts'

export const telemetry: Package = {
  parts: [telemetryPart.at(() => import('./part.ts'))],
}
