// Registries: servers that the user has not configured are found and added, by commands and by cells.
import { lazyMethods } from '@sandbridge/core/calls/methods'
import type { Feature, Package } from '@sandbridge/core/serve/cli/package.ts'
import { REGISTRY_SETTINGS } from './settings.ts'
import type { Command } from '@sandbridge/core/serve/cli'

const feature: Feature = {
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

export const registry: Package = { features: [feature] }

function addCommands(program: Command): void {
  program
    .command('find')
    .description('find MCP servers in a registry, by what they do')
    .argument('<query>')
    .option('-n, --limit <count>', 'how many results')
    .option('--offline', 'search the copy on this machine only')
    .json()
    .runs(async () => (await import('./commands/find.ts')).find)

  program
    .command('add')
    .description('add an MCP server of a registry, after showing what it runs and which tools it has')
    .argument('[name]', 'its name in the registry, as `find` shows it')
    .option('--from <place>', 'the address or the file of a server.json instead')
    .option('--name <name>', 'the name for it here')
    .option('--as <kind>', 'npm, pypi, oci or remote, when it comes in several forms')
    .option('--with <name...>', 'also ask for these optional inputs')
    .option('--no-jail', 'do not run it in a jail')
    .option('--dry-run', 'show what would run and do nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .runs(async () => (await import('./commands/add.ts')).add)

  program
    .command('remove')
    .description('remove a server that `add` has added, with its secrets')
    .argument('<name>')
    .option('-y, --yes', 'do not ask for confirmation')
    .runs(async () => (await import('./commands/add.ts')).remove)

  program
    .command('update')
    .description('use newer versions of added servers, after showing what changes')
    .argument('[name]', 'only this server')
    .option('--dry-run', 'show what would change and do nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .runs(async () => (await import('./commands/add.ts')).update)
}
