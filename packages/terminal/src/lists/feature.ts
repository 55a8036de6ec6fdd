// Lists at a terminal: servers and their tools, what cells have saved, profiles.
import type { Command } from '@sandbridge/core/cli'
import type { Feature } from '@sandbridge/core/cli/package.ts'
import type { Terminal } from '@sandbridge/core/cli/terminal'

export const lists: Feature = {
  name: 'Lists',
  commands: addCommands,
  examples: {
    servers: ['sandbridge servers', 'sandbridge servers --sources', 'sandbridge servers diff'],
    search: ['sandbridge search "create issue" "open ticket"', 'sandbridge search "read csv" --limit 3 --json'],
    tools: ['sandbridge tools github', 'sandbridge tools github create_issue'],
    artifacts: [
      'sandbridge artifacts',
      'sandbridge artifacts report.csv > report.csv',
      'sandbridge artifacts --remove report.csv',
    ],
    saved: ['sandbridge saved', 'sandbridge saved open_issues', 'sandbridge saved --remove open_issues'],
    profile: ['sandbridge profile', 'sandbridge profile work github jira'],
  },
}

function addCommands(program: Command, terminal: Terminal): void {
  program
    .command('servers')
    .description('list the configured MCP servers, or show one in full; starts no server')
    .argument('[name]', 'the server to show; or diff, where no server has that name: tools that have changed')
    .option('--log', 'print the stderr output of its last failure')
    .option('--accept', 'with diff: accept the tools as they are now')
    .option('--sources', 'show the file of each server, and why entries were skipped')
    .json('print JSON, without secrets')
    .runs(async () => (await import('./servers.ts')).servers, terminal)

  program
    .command('search')
    .description('find tools by what they do')
    .argument('<wording...>', 'what a tool should do, in a few words; several wordings, each in quotes, find more')
    .option('-n, --limit <count>', 'how many results')
    .json()
    .runs(async () => (await import('./search.ts')).search, terminal)

  program
    .command('tools')
    .description('list the tools of a server, or show one tool in full; also lists saved functions')
    .argument('<server>', 'the server; or saved, unless a server has that name')
    .argument('[tool]', 'the name of a tool')
    .json()
    .runs(async () => (await import('./tools.ts')).tools, terminal)

  program
    .command('artifacts')
    .description('list the files that cells saved, write one to standard output, or delete one')
    .argument('[name]', 'the artifact to write')
    .argument('[version]', 'a version number (default: the newest)')
    .instead('--remove <name>', 'delete all versions of one')
    .json('print JSON, every version')
    .runs(async () => (await import('./artifacts.ts')).artifacts)

  program
    .command('saved')
    .description('list the functions that cells saved, print the source of one, or delete one')
    .argument('[name]', 'the function to print')
    .argument('[version]', 'a version number (default: the newest)')
    .instead('--remove <name>', 'delete all versions of one')
    .json()
    .runs(async () => (await import('./saved.ts')).saved, terminal)

  program
    .command('profile')
    .description('list the named sets of servers, define or delete one')
    .argument('[name]', 'the profile to show, or to define; MCP_BRIDGE_PROFILE then chooses it')
    .argument('[servers...]', 'its servers from now on')
    .option('--direct <names...>', 'servers or SERVER__TOOL that clients list by themselves')
    .instead('--remove <name>', 'delete one; its servers stay')
    .json()
    .runs(async () => (await import('./profile.ts')).profile)
}
