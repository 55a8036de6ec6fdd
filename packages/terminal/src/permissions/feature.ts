// Permissions at a terminal: which calls are allowed, questions about calls that wait for an answer, and which files of
// a project are trusted.
import type { Command } from '@sandbridge/core/cli'
import type { Feature } from '@sandbridge/core/cli/package.ts'
import type { Terminal } from '@sandbridge/core/cli/terminal'

export const permissions: Feature = {
  name: 'Permissions',
  commands: addCommands,
  examples: {
    permissions: [
      'sandbridge permissions',
      `sandbridge permissions github__create_issue '{"owner": "acme"}'`,
      'sandbridge permissions --allow github__create_issue',
    ],
    trust: ['sandbridge trust', 'sandbridge trust --list'],
    approve: ['sandbridge approve', 'sandbridge approve 0123456789abcdef --answer yes'],
  },
}

function addCommands(program: Command, terminal: Terminal): void {
  program
    .command('permissions')
    .description('list which calls are allowed and why, explain one, or allow a tool')
    .argument('[tool]', 'explain a call of this one: SERVER__TOOL')
    .argument('[arguments]', 'its arguments, a JSON object')
    .instead('--allow <tools...>', 'allow tools permanently that would ask, as the answer "yes, this tool always" does')
    .instead('--distrust <server>', 'take back the answer that trusts the text of a server')
    .json()
    .runs(async () => (await import('./permissions.ts')).permissions)

  program
    .command('approve')
    .description('answer questions about calls, where the client cannot ask')
    .argument('[id]', 'only this question')
    .option('--answer <answer>', 'yes, yes-cell, yes-session, yes-always, no or stop')
    .json('list the open questions as JSON')
    .runs(async () => (await import('./approve.ts')).approve, terminal)

  program
    .command('trust')
    .description('allow the servers of the config files of this project')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--remove <file>', 'stop trusting a file')
    .option('--list', 'list the trusted files')
    .json('with --list: print JSON')
    .runs(async () => (await import('./trust.ts')).trust)
}
