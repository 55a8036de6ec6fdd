// What the core uses of bubblewrap.
import type { Settings } from '@sandbridge/core/config/settings'
import type { Candidate, MountedFolder, Provider } from '@sandbridge/core/isolation'
import type { Log } from '@sandbridge/core/util'
import { findBubblewraps } from './bubblewrap.ts'
import { findHostSystem } from './find-system.ts'
import { RememberedAnswers } from './remembered-answers.ts'

export async function createProvider(
  settings: Settings,
  image: string | undefined,
  mount: MountedFolder | undefined,
  log: Log,
): Promise<Provider> {
  const { pidsCount, projects, hostPackages, packages, cacheDir, forkServer } = settings
  const { BubblewrapProvider } = await import('./provider.ts')
  return new BubblewrapProvider({
    pidsCount,
    image,
    // The fork server also sets up the isolation. An image does that only on the user's request.
    forks: forkServer === 'on' || (forkServer === 'auto' && image === undefined),
    onNotForked: (reason) => log.warning('A sandbox was not forked, but started with its own Python', { reason }),
    mount,
    projects,
    hostPackages,
    node: settings.languages.includes('javascript'),
    packages,
    cacheDir,
  })
}

export async function describe(
  image: string | undefined,
  cacheDir: string | undefined,
  hostPackages: boolean,
): Promise<Pick<Candidate, 'usable' | 'verdict' | 'remarks'>> {
  if (image === undefined) {
    const answers = cacheDir === undefined ? undefined : new RememberedAnswers(cacheDir)
    const { found, ...told } = await findHostSystem(answers, hostPackages)
    return { usable: found !== undefined, ...told }
  }
  const bubblewraps = findBubblewraps()
  if (typeof bubblewraps === 'string') return { usable: false, verdict: bubblewraps }
  return { usable: true, verdict: `bubblewrap with the Python of ${image}, ${bubblewraps[0]!.user}` }
}
