// `sandbridge exec`: one cell from the terminal.
import type { Command } from '@sandbridge/core/cli'
import type { Feature } from '@sandbridge/core/cli/package.ts'
import type { Terminal } from '@sandbridge/core/cli/terminal'

export const cells: Feature = {
  name: 'Cells',
  commands: addCommands,
  examples: {
    '': ['sandbridge exec -c "1 + 1"'],
    exec: [
      'sandbridge exec -c "print(runtime.capability_summary())"',
      'sandbridge exec report.py --servers github,files --images charts',
      'echo "2 ** 10" | sandbridge exec -',
    ],
  },
}

function addCommands(program: Command, terminal: Terminal): void {
  const exec = program
    .command('exec')
    .description('run one cell from the terminal')
    .argument('[file]', 'a Python file; - reads standard input')
    .argument('[args...]', 'what the file reads as sys.argv; -- stands before what looks like an option of exec')
    .allowUnknownOption()
    .option('-c, --code <code>', 'the Python code')
    .option('-s, --servers <names>', 'only these servers, separated by commas')
    .option('-t, --timeout <seconds>', 'how long the cell may run')
    .option('--images <folder>', 'the folder for images and audio (default: the working folder)')
    .json('print the result as JSON')
  exec.runs(async () => (await import('./exec.ts')).exec, terminal, exec)
}
