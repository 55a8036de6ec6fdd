// Scripts that complete commands and options in a shell.
import type { Command } from '../../cli/command.ts'
import type { Feature } from '../../cli/feature.ts'

export const completion: Feature = {
  name: 'Completion',
  commands: addCommands,
  examples: {
    completion: [
      'source <(sandbridge completion bash)',
      'sandbridge completion zsh > "${fpath[1]}/_sandbridge"',
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
