// `sandbridge shell`: Python at a prompt, in one session.
import type { Command } from '@sandbridge/core/cli'
import type { Feature } from '@sandbridge/core/cli/package.ts'
import type { Terminal } from '@sandbridge/core/cli/terminal'

export const shell: Feature = {
  name: 'Shell',
  commands: addCommands,
  examples: {
    shell: ['sandbridge shell', 'sandbridge shell --images charts'],
  },
}

function addCommands(program: Command, terminal: Terminal): void {
  program
    .command('shell')
    .description('run Python at a prompt, in one session')
    .option('--images <folder>', 'the folder for images and audio (default: the working folder)')
    .runs(async () => (await import('./shell.ts')).shell, terminal)
}
