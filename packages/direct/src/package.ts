import type { Package } from '@sandbridge/core/serve/cli/package.ts'
import { offerTools } from './offer.ts'
import { DIRECT_SETTINGS } from './settings.ts'

export const direct: Package = {
  features: [
    {
      name: 'Tools listed directly',
      settings: DIRECT_SETTINGS,
      offer: offerTools,
      serverNotes: async (bridge) => (await import('./listing-notes.ts')).listingNotes(bridge),
    },
  ],
}
