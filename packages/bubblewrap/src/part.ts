// What the core uses of bubblewrap.
import type { BubblewrapOptions } from '@sandbridge/core/isolation/bubblewrap-part.ts'
import type { Provider } from '@sandbridge/core/isolation/provider.ts'
import { findBubblewrap } from './bubblewrap.ts'
import { findHostSystem } from './find-system.ts'
import { RememberedAnswers } from './remembered-answers.ts'

export async function createProvider(options: BubblewrapOptions): Promise<Provider> {
  const { BubblewrapProvider } = await import('./provider.ts')
  return new BubblewrapProvider(options)
}

export async function describe(
  image: string | undefined,
  cacheDir: string | undefined,
): Promise<{ usable: boolean; verdict: string }> {
  if (image === undefined) {
    const { found, verdict } = await findHostSystem(
      cacheDir === undefined ? undefined : new RememberedAnswers(cacheDir),
    )
    return { usable: found !== undefined, verdict }
  }
  const bubblewrap = findBubblewrap()
  if (typeof bubblewrap === 'string') return { usable: false, verdict: bubblewrap }
  return { usable: true, verdict: `bubblewrap with the Python of ${image}, ${bubblewrap.user}` }
}
