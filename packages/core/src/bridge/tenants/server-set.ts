// The servers of one tenant, with their catalog and rules.
import type { PermissionFiles } from '../../config/permission-files.ts'
import type { DiscoveredServers, ServerDefinition } from '../../config/entries/server-definition.ts'
import type { Policy } from '../../config/rules/policy.ts'
import { Permissions } from '../../calls/permissions/permissions.ts'
import type { Ability } from '../../calls/questions/questions.ts'
import { ConfiguredServers } from './configured-servers.ts'
import { type ConnectedServers, connectServers, type TenantOptions } from './connect-servers.ts'

interface ServerSetOptions {
  discovered: DiscoveredServers
  files: PermissionFiles
  policy: Policy | undefined
  keyOf: (definition: ServerDefinition) => string | undefined
  offered: ReadonlySet<Ability>
}

export class ServerSet {
  readonly connected: ConnectedServers
  readonly rules: Permissions
  readonly configured: ConfiguredServers

  constructor(tenant: TenantOptions, { discovered, files, policy, keyOf, offered }: ServerSetOptions) {
    const { settings, page, stores } = tenant.bridge
    this.connected = connectServers(tenant, {
      definitions: discovered.servers,
      keyOf,
      offered,
      accessOf: (tool) => this.rules.accessOf(tool),
      configFiles: () => this.configured.files,
    })
    const { upstreams, catalog } = this.connected
    const hours = stores.of(tenant.user).document('hourly-calls.json')
    this.rules = new Permissions({ settings, upstreams, catalog, files, page, hours }, policy)
    this.configured = new ConfiguredServers(tenant, discovered, this)
  }

  async close(): Promise<void> {
    // Before the servers are stopped, so that their exits do not count as failures.
    this.connected.catalog.stopIndexing()
    await this.rules.close()
    await this.connected.upstreams.close()
    await this.connected.catalog.close()
  }
}
