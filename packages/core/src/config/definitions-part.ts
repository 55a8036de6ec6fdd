// What packages make of the definitions of servers, as far as the core knows it.
import { Part } from '../util/part.ts'
import type { DiscoveredServers } from './entries/server-definition.ts'

/** Without it, a renamed entry is another server for rules, which need another package anyway. */
export const formerNames = new Part<FormerNamesPart>('former names of servers')

interface FormerNamesPart {
  FormerNames: new (stateDir: string) => FormerNames
}

export interface FormerNames {
  /** The servers with the names that their entries had before. Never rejects. */
  added(discovered: DiscoveredServers): Promise<DiscoveredServers>
}

export const profiles = new Part<ProfilesPart>('profiles')

interface ProfilesPart {
  /**
   * Keeps only the servers of a profile.
   * @param note is told of the file with the profiles, before it is read
   * @param namedBy a sentence on what named the profile
   * @throws BridgeError CONFIG_INVALID for an unknown one
   */
  inProfile: (
    discovered: DiscoveredServers,
    profile: { name: string; namedBy: string; stateDir: string },
    note: (file: string) => void,
  ) => Promise<DiscoveredServers>
}
