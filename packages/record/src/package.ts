// `sandbridge log` shows the record of what models did.
import { dailyCosts, record as recordPart } from '@sandbridge/core/parts'
import type { Command } from '@sandbridge/core/serve/cli'
import type { Feature, Package } from '@sandbridge/core/serve/cli/package.ts'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'

const feature: Feature = {
  name: 'Log',
  commands: addCommands,
  examples: {
    log: ['sandbridge log --since 2h', 'sandbridge log --follow --server github', 'sandbridge log --verify'],
  },
  findings: async ({ stores }) => (await import('./log/check-record.ts')).checkRecord(stores),
}

export const record: Package = {
  features: [feature],
  parts: [dailyCosts.at(() => import('./costs/part.ts')), recordPart.at(() => import('./audit/part.ts'))],
}

function addCommands(program: Command, terminal: Terminal): void {
  program
    .command('log')
    .description('show what models did: runs, calls, questions, denials, sign-ins')
    .argument('[id]', 'only this run, cell or call: an id from an error or a log line')
    .option('-f, --follow', 'keep printing new lines')
    .option('-n, --lines <count>', 'how many lines, the newest', '100')
    .option('--session <id>', 'only this session: its id, or the beginning of its id')
    .option('--server <name>', 'only calls of this server')
    .option('--denied', 'only denied calls and declined questions')
    .option('--since <time>', 'only after this time: 90m, 2h, 3d, or a date')
    .option('--flow', 'also show where the arguments of calls came from')
    .option('--verify', 'show whether the audit log was changed')
    .json('print the lines of the audit log unchanged')
    .runs(async () => (await import('./log/log.ts')).log, terminal)
}
