// `sandbridge config`: lists, changes and checks settings.
import type { Command } from '@sandbridge/core/cli'
import type { Feature } from '@sandbridge/core/cli/package.ts'

export const settings: Feature = {
  name: 'Settings',
  commands: addCommands,
  examples: {
    config: [
      'sandbridge config',
      'sandbridge config output.tokens 8000',
      'sandbridge config http.token - < token.txt',
      'sandbridge config --check',
    ],
  },
}

function addCommands(program: Command): void {
  program
    .command('config')
    .description('list the settings and where each was set, change one, or check them')
    .argument('[name]', 'the setting to show or set, such as output.tokens; or the variable')
    .argument('[value]', 'written to settings.json, whose comments stay; - reads it from standard input')
    .instead('--remove <name>', 'remove one from settings.json')
    .instead('--check', 'check settings.json and the variables')
    .instead('--path', 'print the path of settings.json')
    .json('print JSON, without secrets')
    .runs(async () => (await import('./config.ts')).config)
}
