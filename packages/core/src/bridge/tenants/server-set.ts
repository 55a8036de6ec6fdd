// The servers of one tenant, with their catalog and rules.
import type { PermissionFiles } from '../../config/permission-files.ts'
import type { DiscoveredServers } from '../../config/entries/server-definition.ts'
import type { Policy } from '../../config/rules/policy.ts'
import type { AnswerPage } from '../../calls/permissions/answer-page.ts'
import { Permissions } from '../../calls/permissions/permissions.ts'
import { ConfiguredServers, type DefinitionSource } from './configured-servers.ts'
import { type ConnectedServers, type ConnectOptions, connectServers } from './connect-servers.ts'

export interface ServerSetOptions extends Omit<ConnectOptions, 'definitions' | 'standing' | 'configFiles'> {
  definitions: DefinitionSource
  discovered: DiscoveredServers
  files: PermissionFiles
  policy: Policy | undefined
  /** Returns the page where the user answers questions about calls. */
  page: () => Promise<AnswerPage | undefined>
  /** Receives the keys of definitions that were changed or removed, and the user who owns the servers. */
  onGone: (servers: ReadonlySet<string>, user: string | undefined) => void
}

export class ServerSet {
  readonly connected: ConnectedServers
  readonly rules: Permissions
  readonly configured: ConfiguredServers

  constructor({ definitions, discovered, files, policy, page, onGone, ...options }: ServerSetOptions) {
    const { settings, log, events, user, stores } = options
    this.connected = connectServers({
      ...options,
      definitions: discovered.servers,
      standing: (tool) => this.rules.standing(tool),
      configFiles: () => this.configured.discovered.files.map(({ file }) => file),
    })
    const { upstreams, catalog } = this.connected
    const parts = { settings, log, events, upstreams, catalog }
    this.rules = new Permissions(
      { ...parts, files, page, hours: stores.of(user).document('hourly-calls.json') },
      policy,
    )
    this.configured = new ConfiguredServers({
      ...parts,
      definitions,
      discovered,
      rules: this.rules,
      onGone: (servers) => onGone(servers, user),
    })
  }

  async close(): Promise<void> {
    // Before the servers are stopped, so that their exits do not count as failures.
    this.connected.catalog.stopIndexing()
    await this.rules.close()
    await this.connected.upstreams.close()
    await this.connected.catalog.close()
  }
}
