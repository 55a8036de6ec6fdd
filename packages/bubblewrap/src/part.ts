// What the core uses of bubblewrap.
import type { BubblewrapOptions } from '@sandbridge/core/parts'
import type { Candidate, Provider } from '@sandbridge/core/isolation'
import { findBubblewraps } from './bubblewrap.ts'
import { findHostSystem } from './find-system.ts'
import { RememberedAnswers } from './remembered-answers.ts'

export async function createProvider(options: BubblewrapOptions): Promise<Provider> {
  const { BubblewrapProvider } = await import('./provider.ts')
  return new BubblewrapProvider(options)
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
