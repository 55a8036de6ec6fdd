// What packages use of bridge.
export type { RunCellRequest, RunOrigin } from './cells/cell.ts'
export { beginSignIn } from './tenants/connect-servers.ts'
export type { DirectCall } from './cells/direct-call.ts'
export { type OpenTenant, openTenant } from './tenants/open-tenant.ts'
export type { ServerSet } from './tenants/server-set.ts'
export type { Tenant } from './tenants/tenant.ts'
