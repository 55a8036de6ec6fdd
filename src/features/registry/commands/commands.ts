// The commands for servers of registries. Each is a module that is loaded on use.
import type { Command } from '../../../cli/command.ts'

export function addCommands(program: Command): void {
  program
    .command('find')
    .description('find MCP servers in a registry, by what they do')
    .argument('<query>')
    .option('-n, --limit <count>', 'how many results')
    .option('--offline', 'search the copy on this machine only')
    .json()
    .action(async (query: string, options: object) => (await import('./find.ts')).find(query, options))

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
    .action(async (name: string | undefined, options: object) => (await import('./add.ts')).add(name, options))

  program
    .command('remove')
    .description('remove a server that `add` has added, with the secrets kept for it')
    .argument('<name>')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(async (name: string, options: object) => (await import('./add.ts')).remove(name, options))

  program
    .command('update')
    .description('use newer versions of added servers, after showing what changes')
    .argument('[name]', 'only this server')
    .option('--dry-run', 'show what would change and do nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(async (name: string | undefined, options: object) => (await import('./add.ts')).update(name, options))
}
