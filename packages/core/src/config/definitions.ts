// The server definitions of a running bridge, read again when a possible config file has changed.
import path from 'node:path'
import type { ClientContext } from './settings/client-context.ts'
import { nodeFileSystem } from './config-file.ts'
import { type FormerNames, formerNames } from './rules/rules-part.ts'
import { profiles } from './terminal-part.ts'
import { discoverServers } from './discover.ts'
import { SETTINGS_FILE } from './readers/own-places.ts'
import { PlacesSeen } from './places-seen.ts'
import type { DiscoveredServers } from './entries/server-definition.ts'
import type { Settings } from './settings/settings.ts'
import { createTrustStore, trustRecord } from './trust.ts'

const NAMED_BY = 'The setting servers.profile or MCP_BRIDGE_PROFILE names it: `sandbridge config` shows where. '

export class Definitions {
  readonly #settings: Settings
  readonly #context: ClientContext
  readonly #ownPort: number | undefined
  #formerNames: FormerNames | undefined
  #seen = new PlacesSeen()
  #reading: Promise<DiscoveredServers> | undefined
  #last: DiscoveredServers | undefined

  /** @param ownPort the port on which this bridge serves HTTP */
  constructor(settings: Settings, context: ClientContext, ownPort?: number) {
    this.#settings = settings
    this.#context = context
    this.#ownPort = ownPort
  }

  /** What the files contain, read only if that may be something else than at the last time. */
  async latest(): Promise<DiscoveredServers> {
    const last = this.#last
    return last === undefined ? this.read() : ((await this.readAgain()) ?? last)
  }

  async read(): Promise<DiscoveredServers> {
    this.#last = undefined
    const seen = (this.#seen = new PlacesSeen(() => {
      const { sources, serversConfig, allowSelfServer, jail, profile } = this.#settings
      return [sources, serversConfig, allowSelfServer, jail, profile]
    }))
    const found = await this.#read(seen)
    // One that began later, perhaps for the next client of this place, may have ended before.
    if (seen === this.#seen) this.#last = found
    return found
  }

  async #read(seen: PlacesSeen): Promise<DiscoveredServers> {
    const { stateDir, profile } = this.#settings
    seen.note(trustRecord(stateDir))
    // Which servers there are depends on settings that may be in the file.
    seen.note(path.join(stateDir, SETTINGS_FILE))
    const found = await discoverServers({
      ...this.#context,
      settings: this.#settings,
      isTrusted: createTrustStore(stateDir).isTrusted,
      fileSystem: seen.noting(nodeFileSystem),
      ...(this.#ownPort !== undefined && { ownPort: this.#ownPort }),
    })
    const part = await formerNames.ifHere()
    if (part) this.#formerNames ??= new part.FormerNames(stateDir)
    const discovered = (await this.#formerNames?.added(found)) ?? found
    if (profile === undefined) return discovered
    const { inProfile } = await profiles.for('MCP_BRIDGE_PROFILE')
    return inProfile(discovered, { name: profile, namedBy: NAMED_BY, stateDir }, (file) => seen.note(file))
  }

  get places(): Record<string, string> {
    return this.#seen.states()
  }

  /** Reads the files again if they may have changed; otherwise undefined. Concurrent callers share one read. */
  async readAgain(): Promise<DiscoveredServers | undefined> {
    if (this.#reading === undefined && !this.#seen.hasChanged()) return undefined
    this.#reading ??= this.read().finally(() => (this.#reading = undefined))
    return this.#reading
  }
}
