// `sandbridge doctor`: what can isolate Python on this machine, and what is wrong.
import type { Command } from '@sandbridge/core/serve/cli'
import type { Feature, Package } from '@sandbridge/core/serve/cli/package.ts'

const feature: Feature = {
  name: 'Doctor',
  commands: addCommands,
  examples: {
    '': ['sandbridge doctor'],
    doctor: ['sandbridge doctor', 'sandbridge doctor --deep', 'sandbridge doctor --fix --report doctor.json'],
  },
}

export const doctor: Package = { features: [feature] }

function addCommands(program: Command): void {
  program
    .command('doctor')
    .description('show what can isolate Python on this machine, whether a cell runs, and what is wrong')
    .option('--deep', 'also try the isolation of the sandbox, and start every server')
    .option('--fix', 'correct what is safe to correct, such as permissions of files')
    .option('--report <file>', 'write the report to a file, without secrets, for an issue')
    .json()
    .runs(async () => (await import('./doctor.ts')).doctor)
}
