// Sandboxes in bubblewrap, as far as the core knows them.
import type { Settings } from '@sandbridge/core/config/settings'
import { type Log, Part } from '@sandbridge/core/util'
import type { Candidate, MountedFolder, Provider } from '@sandbridge/core/isolation'

export const bubblewrap = new Part<BubblewrapPart>('the bubblewrap provider')

interface BubblewrapPart {
  /** @param image whose Python runs: a name, a folder or an archive. Missing: this machine's Python. */
  createProvider: (
    settings: Settings,
    image: string | undefined,
    mount: MountedFolder | undefined,
    log: Log,
  ) => Promise<Provider>
  /**
   * Describes in one sentence whether bubblewrap can be used here.
   * @param image missing: this machine's Python, which is tried
   * @param cacheDir folder of remembered answers, which the provider verifies; missing: everything is tried
   */
  describe: (
    image: string | undefined,
    cacheDir: string | undefined,
    hostPackages: boolean,
  ) => Promise<Pick<Candidate, 'usable' | 'verdict' | 'remarks'>>
}
