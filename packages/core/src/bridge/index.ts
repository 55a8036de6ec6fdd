// What packages use of bridge.
export type { RunCellRequest, RunOrigin } from './cell.ts'
export { beginSignIn, signInVault } from './connect-servers.ts'
export type { DirectCall } from './direct-call.ts'
export { OpenTenant } from './open-tenant.ts'
export type { ServerSet } from './server-set.ts'
export type { Tenant } from './tenant.ts'
