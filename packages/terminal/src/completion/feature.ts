// Completion: scripts that complete commands and options in a shell, and what could stand in a text of a cell that is
// being written.
import { lazyMethods } from '@sandbridge/core/calls/methods'
import type { Command } from '@sandbridge/core/cli'
import type { Feature } from '@sandbridge/core/cli/package.ts'

export const completion: Feature = {
  name: 'Completion',
  commands: addCommands,
  methods: () =>
    lazyMethods(['complete_argument'], async () => (await import('./complete-argument.ts')).completionMethods),
  examples: {
    completion: [
      'eval "$(sandbridge completion bash)"',
      'eval "$(sandbridge completion zsh)"',
      'sandbridge completion fish > ~/.config/fish/completions/sandbridge.fish',
    ],
  },
}

function addCommands(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell: string) => (await import('./completion.ts')).printCompletion(program, shell))
}
