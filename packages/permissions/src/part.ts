// What the core uses of permissions.
import { gates } from '@sandbridge/core/parts'
import { CellPermissions } from './cell-gate.ts'

export { deniedByRule } from './denied.ts'
export { refuseApp } from './refuse-app.ts'

type GatesPart = Awaited<ReturnType<typeof gates.for>>

export const gateOf: GatesPart['gateOf'] = (permissions, cell, policy) => new CellPermissions(permissions, cell, policy)
