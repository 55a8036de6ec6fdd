// `sandbridge init` registers the bridge in clients, `index` lists all tools; what doctor says of clients.
import type { Command } from '@sandbridge/core/serve/cli'
import type { Feature } from '@sandbridge/core/serve/cli/package.ts'

export const init: Feature = {
  name: 'Registering',
  commands: addCommands,
  examples: {
    '': ['sandbridge init'],
    index: ['sandbridge index'],
    init: ['sandbridge init --client claude-code', 'sandbridge init --move', 'sandbridge init --undo'],
    uninstall: ['sandbridge uninstall'],
  },
  findings: async (bridge) => [
    ...(await import('./checks/check-clients.ts')).checkClients(bridge),
    ...(await (await import('./checks/check-entries.ts')).checkEntries(bridge.settings)),
  ],
}

function addCommands(program: Command): void {
  program
    .command('init')
    .description('register sandbridge in the clients of this machine; shows the change first')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--move', "move the clients' own servers to ~/MCPs, so that their tools use no context")
    .option('--client <name...>', 'change only these clients')
    .option('--tools <mode>', 'what the clients list: code (run_python), search, or direct (every tool)')
    .option('--login', 'start the bridge at login, so that no client waits for it')
    .option('--dry-run', 'show the changes and make none')
    .option('--undo', 'undo the changes')
    .json('print JSON; changes nothing without --yes')
    .runs(async () => (await import('./init.ts')).init)

  program
    .command('uninstall')
    .description('undo init, end the bridge and delete its cache; asks before it deletes your data')
    .option('-y, --yes', 'do not ask, and keep your data')
    .runs(async () => (await import('./undo/uninstall.ts')).uninstall)

  program
    .command('index')
    .description('list the tools of every server now, so that no cell waits for them')
    .argument('[names...]', 'only these servers')
    .json()
    .runs(async () => (await import('./index-servers.ts')).indexServers)
}
