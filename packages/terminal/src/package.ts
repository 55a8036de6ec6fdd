import { cells } from './cells/feature.ts'
import { completion } from './completion/feature.ts'
import { lists } from './lists/feature.ts'
import { permissions } from './permissions/feature.ts'
import { sandboxes } from './sandboxes/feature.ts'
import { settings } from './settings/feature.ts'
import { shell } from './shell/feature.ts'
import type { Package } from '@sandbridge/core/cli/package.ts'

export const terminal: Package = {
  features: [cells, completion, lists, permissions, sandboxes, settings, shell],
}
