// The configured servers in use. Applies a change of the config files to rules, upstreams and catalog, and logs it.
import { definitionKey } from '../../calls/catalog/model/identity.ts'
import { isSameDefinition } from '../../config/merge-definitions.ts'
import type { DiscoveredServers, ServerDefinition, SkippedEntry } from '../../config/entries/server-definition.ts'
import { newId } from '../../observe/events/new-id.ts'
import type { Permissions } from '../../calls/permissions/permissions.ts'
import type { ConnectedServers, TenantOptions } from './connect-servers.ts'

interface ConfiguredSet {
  connected: ConnectedServers
  rules: Permissions
}

export class ConfiguredServers {
  /** Servers in the config files, and the entries that were skipped, with reasons. */
  discovered: DiscoveredServers
  /** Definitions that were read but are not in use yet. */
  #unused: DiscoveredServers | undefined
  readonly #tenant: TenantOptions
  readonly #set: ConfiguredSet

  constructor(tenant: TenantOptions, discovered: DiscoveredServers, set: ConfiguredSet) {
    this.#tenant = tenant
    this.#set = set
    this.discovered = discovered
    this.#tellSkipped(this.discovered.skipped)
    this.#tellRenamed(this.discovered.found)
  }

  get files(): string[] {
    return this.discovered.files.map(({ file }) => file)
  }

  /** Applies changes of the config files. @throws BridgeError CONFIG_INVALID while the rules contain a mistake */
  async refresh(): Promise<void> {
    const { bridge, definitions, log, user } = this.#tenant
    const { connected, rules } = this.#set
    const discovered = (this.#unused = (await definitions.readAgain()) ?? this.#unused)
    const isNew = discovered !== undefined && discovered !== this.discovered
    // Refresh rules before any new definition can be called. While the rules contain a mistake, no cell runs.
    if (isNew || rules.hasChanged()) await rules.refresh((discovered ?? this.discovered).found)
    this.#unused = undefined
    if (!isNew) return
    const told = new Set(this.discovered.skipped.map((entry) => JSON.stringify(entry)))
    const hasChanged = this.#emitChanges(discovered.servers)
    const gone = new Set(this.discovered.servers.map(definitionKey))
    for (const server of discovered.servers) gone.delete(definitionKey(server))
    if (gone.size > 0) bridge.users.forgetServers(gone, user)
    this.discovered = discovered
    this.#tellSkipped(discovered.skipped.filter((entry) => !told.has(JSON.stringify(entry))))
    connected.upstreams.redefine(discovered.servers)
    connected.catalog.redefine(discovered.servers)
    if (hasChanged) log.info('The server entries have changed', { servers: discovered.servers.length })
  }

  /** @returns whether a server was added, removed or changed: a file can change without that */
  #emitChanges(now: readonly ServerDefinition[]): boolean {
    const before = new Map(this.discovered.servers.map((server) => [server.name, server]))
    const names = new Set(now.map(({ name }) => name))
    const isOther = (server: ServerDefinition): boolean => {
      const old = before.get(server.name)
      return old !== undefined && !isSameDefinition(old, server)
    }
    const added = [...names].filter((name) => !before.has(name))
    const removed = [...before.keys()].filter((name) => !names.has(name))
    const changed = now.filter(isOther).map(({ name }) => name)
    if (added.length + removed.length + changed.length === 0) return false
    this.#tenant.bridge.events.emit({ type: 'config.changed', id: newId(), added, removed, changed })
    return true
  }

  #tellRenamed(found: DiscoveredServers['found']): void {
    for (const { definition, name, isDouble } of found) {
      if (isDouble || name === definition.name) continue
      const { file } = definition.source
      this.#tenant.log.warning('A server was renamed because its name is taken', {
        file,
        name: definition.name,
        renamedTo: name,
      })
    }
  }

  #tellSkipped(skipped: readonly SkippedEntry[]): void {
    // `sandbridge init` has written those that are this bridge: nothing is wrong with them.
    for (const { file, name, reason, kind } of skipped)
      this.#tenant.log[kind === 'self' ? 'debug' : 'warning']('A server entry was skipped', {
        file,
        name,
        reason,
      })
  }
}
