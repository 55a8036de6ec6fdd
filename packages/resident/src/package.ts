// The resident bridge: one for all clients of a user. `run` and some commands then only pass on what it says.
import type { Command } from '@sandbridge/core/serve/cli'
import type { Feature, Package } from '@sandbridge/core/serve/cli/package.ts'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'
import type { TopOptions } from './top.ts'
import { RESIDENT_SETTINGS } from './settings.ts'

const feature: Feature = {
  name: 'Resident',
  settings: RESIDENT_SETTINGS,
  commands: addCommands,
  examples: {
    status: ['sandbridge status', 'sandbridge status --json'],
    start: ['sandbridge start'],
    stop: ['sandbridge stop'],
    top: ['sandbridge top', 'sandbridge top --json'],
  },
  findings: async ({ settings }) => (await import('./check-resident.ts')).checkResident(settings.stateDir),
  processes: async (stateDir) => (await import('./server-processes.ts')).serverProcesses(stateDir),
}

export const resident: Package = { features: [feature] }

function addCommands(program: Command, terminal: Terminal): void {
  program
    .command('resident', { hidden: true })
    .description('serve the clients of this user; `run` starts it')
    .argument('<name>', 'of what these clients have in common')
    .action(async (name: string) => (await import('./process/serve-resident.ts')).serveResident(name))

  program
    .command('top')
    .description('show what the resident bridge is doing: sessions, cells, calls, servers')
    .option('--once', 'print once and exit')
    .json('print JSON once and exit')
    .action(async (options: TopOptions) => (await import('./top.ts')).top(options, terminal))

  program
    .command('status')
    .description('show the resident bridges of this user, their clients and servers')
    .json()
    .action(async (options: { json?: boolean }) => (await import('./reach/status.ts')).status(options))

  program
    .command('start')
    .description('start the resident bridge now, and keep it without clients')
    .action(async () => (await import('./start.ts')).start())

  program
    .command('stop')
    .description('end the resident bridges of this user, after the cells that run')
    .action(async () => (await import('./reach/status.ts')).stop())
}
