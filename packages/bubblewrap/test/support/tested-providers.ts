import type { TestedProviders } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { type BubblewrapOptions, BubblewrapProvider } from '../../src/provider.ts'

const make = (options: Partial<BubblewrapOptions>) => new BubblewrapProvider({ pidsCount: 128, ...options })

/** A provider that did not fork would pass all tests. */
function onNotForked(reason: string): never {
  throw new Error(`it cannot fork: ${reason}`)
}

export const TESTED: TestedProviders = {
  bubblewrap: ({ node }) => make({ node }),
  'bubblewrap-image': ({ image, cacheDir, node }) => make({ image, cacheDir, node }),
  'bubblewrap-fork': ({ node }) => make({ forks: true, onNotForked, node }),
}
