// Profiles of servers, as far as the core knows them.
import { Part } from '../util/part.ts'
import type { DiscoveredServers } from './entries/server-definition.ts'

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
