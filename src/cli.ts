#!/usr/bin/env node
// argv → command. Each command is a module of its own, loaded when it is asked for: `sandbridge` itself must answer a client at once.
import { Command } from 'commander'
import { VERSION } from './version.ts'

const program = new Command('sandbridge')
  .description('One MCP tool, run_python, whose sandboxed code calls the tools of all your MCP servers.')
  .version(VERSION)

program
  .command('run', { isDefault: true })
  .description('serve MCP over stdio; this is what a client starts')
  .action(async () => (await import('./commands/run.ts')).run())

program
  .command('exec')
  .description('run one cell from the terminal')
  .argument('[file]', 'a file of Python; - reads standard input')
  .option('-c, --code <code>', 'the Python itself')
  .option('-s, --servers <names>', 'only these servers, separated by commas')
  .option('-t, --timeout <seconds>', 'how long the cell may run')
  .option('--json', 'print the result as JSON')
  .action(async (file: string | undefined, options: object) => (await import('./commands/exec.ts')).exec(file, options))

try {
  await program.parseAsync()
} catch (error) {
  const { reportFailure } = await import('./commands/report-failure.ts')
  process.exitCode = reportFailure(error)
}
