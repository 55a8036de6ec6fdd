// Sandboxes in bubblewrap, as far as the core knows them.
import { Part } from '../util/part.ts'
import type { MountedFolder } from './local/mounted-folder.ts'
import type { Candidate, Provider } from './provider.ts'

export const bubblewrap = new Part<BubblewrapPart>('the bubblewrap provider')

interface BubblewrapPart {
  createProvider: (options: BubblewrapOptions) => Promise<Provider>
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

export interface BubblewrapOptions {
  pidsCount: number
  /** The image whose Python runs: a name, a folder or an archive. Missing: this machine's Python. */
  image?: string | undefined
  /** A folder that cells can see. */
  mount?: MountedFolder | undefined
  /** Give cells a folder `/projects`. */
  projects?: boolean
  /** Give cells this machine's Node. Images bring their own. */
  node?: boolean
  /** Cells see the packages that are installed for this machine's Python. */
  hostPackages?: boolean
  /** Packages that cells can import. */
  packages?: readonly string[]
  /** Cache folder, kept between runs. */
  cacheDir?: string
  /** Fork sandboxes from a process that has loaded the kernel, if that works here. */
  forks?: boolean
  /** Number of sandboxes forked from one process before another replaces it. */
  forksEach?: number
  /** Called with the reason when sandboxes are not forked. */
  onNotForked?: (reason: string) => void
}
