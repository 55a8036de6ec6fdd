// Registries: servers that the user has not configured are found and added, by commands and by cells.
import { lazyMethods } from '../../calls/methods/lazy-methods.ts'
import type { Feature } from '../../cli/feature.ts'
import { addCommands } from './commands/commands.ts'
import { REGISTRY_SETTINGS } from './settings.ts'

export const registry: Feature = {
  name: 'Registries',
  settings: REGISTRY_SETTINGS,
  commands: addCommands,
  examples: {
    find: ['sandbridge find "pull requests"', 'sandbridge find weather --limit 3 --json'],
    add: ['sandbridge add io.github.owner/weather', 'sandbridge add --from ./server.json --dry-run'],
    remove: ['sandbridge remove weather'],
    update: ['sandbridge update', 'sandbridge update weather --dry-run'],
  },
  methods: (bridge) =>
    lazyMethods(['find_servers', 'request_server'], async () => (await import('./methods.ts')).registryMethods(bridge)),
}
