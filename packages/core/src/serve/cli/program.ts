// Runs the command that the words of a command line name, and says what was meant where there is none.
import { CommanderError } from 'commander'
import { BridgeError } from '../../errors.ts'
import type { Command } from './command.ts'
import { createProgram } from './commands.ts'
import { features, type Package, plugIn } from './package.ts'
import { OWN_TERMINAL, type Terminal } from './terminal/terminal.ts'
import { VERSION } from '../../util/package-root.ts'
import { print } from './terminal/print.ts'

const USAGE_ERROR = 2

let hasPackages = false

/** All commands with their options, those of the packages last. A process has one set of packages. */
export function commandLine(packages: readonly Package[]): Command {
  if (!hasPackages) plugIn(packages)
  hasPackages = true
  return commandsFor(OWN_TERMINAL)
}

/** @param terminal of the commands that can run for another process */
function commandsFor(terminal: Terminal): Command {
  const program = createProgram(terminal)
  for (const { commands } of features.all) commands?.(program, terminal)
  addExamples(program, [])
  return program
}

/** Runs the command in this process's arguments. Never throws: sets the exit code. */
export async function main(packages: readonly Package[]): Promise<void> {
  await runCommand(commandLine(packages), process.argv.slice(2), OWN_TERMINAL)
}

/** Runs a command line that its user typed in another process. Never throws: sets the exit code. */
export async function runTyped(words: readonly string[], terminal: Terminal): Promise<void> {
  await runCommand(commandsFor(terminal), words, terminal)
}

async function runCommand(program: Command, words: readonly string[], terminal: Terminal): Promise<void> {
  try {
    const [first, second] = words
    const names = ['help', ...program.commands.map((command) => command.name())]
    if (first !== undefined && !first.startsWith('-') && !names.includes(first)) {
      // Commander would take it for an argument of `run`.
      const { unknownCommand } = await import('./terminal/report-failure.ts')
      throw unknownCommand(first, names)
    }
    const named = words.find((word) => !/^(-v|--verbose|--json)$/.test(word))
    if (program.commands.some((command) => command.name() === named && command.takesParameters))
      program.withoutVersion()
    const group = program.commands.find((command) => command.name() === first && command.commands.length > 0)
    const members = ['help', ...(group?.commands ?? []).map((command) => command.name())]
    if (group && second !== undefined && !second.startsWith('-') && !members.includes(second)) {
      const { unknownCommand } = await import('./terminal/report-failure.ts')
      throw unknownCommand(second, members, `${group.name()} `)
    }
    if (first === undefined && terminal.stdin.isTTY && terminal.stdout.isTTY) welcome(names)
    else await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    let code = USAGE_ERROR
    // Commander has already printed the error. Printing help is not an error.
    if (error instanceof CommanderError) code = error.exitCode === 0 ? 0 : USAGE_ERROR
    else {
      const { reportFailure } = await import('./terminal/report-failure.ts')
      code = reportFailure(error, terminal)
    }
    if (code !== 0 && terminal === OWN_TERMINAL && mayBeOfClient(words, program)) {
      const { serveFailure } = await import('./serve/serve-failure.ts')
      return serveFailure(error instanceof CommanderError ? usageError(error) : error, code)
    }
    // Set already by a config file that cannot be read: that a name is unknown may only follow from it.
    terminal.exitCode ||= code
  }
}

function addExamples(command: Command, words: readonly string[]): void {
  command.addHelpText('after', () => examplesText(words.join(' ')))
  for (const sub of command.commands) addExamples(sub, [...words, sub.name()])
}

function usageError({ message }: CommanderError): BridgeError {
  return new BridgeError('TOOL_ARGUMENTS_INVALID', message.replace(/^error: /, ''), {
    hint: 'A client starts the bridge with the argument `run`, or without any.',
  })
}

/** Whether a client of MCP may have started this process, with arguments that are wrong or in a place that is. */
function mayBeOfClient(words: readonly string[], program: Command): boolean {
  if (process.stdin.isTTY || words.some((word) => word.startsWith('--http'))) return false
  const [first = 'run'] = words
  return first === 'run' || !program.commands.some((command) => command.name() === first)
}

const EXAMPLES: Record<string, readonly string[]> = {
  run: ['sandbridge run', 'sandbridge run --http 127.0.0.1:3910', 'sandbridge run --ui 7717'],
}

/** Formatted for the help; empty for a command without examples. */
function examplesText(command: string): string {
  const ofFeatures = features.all.flatMap(({ examples }) => examples?.[command] ?? [])
  const lines = [...ofFeatures, ...(EXAMPLES[command] ?? [])]
  return lines.length === 0 ? '' : `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

const WORTH_TRYING = [
  'init             register it in your MCP clients, after showing how',
  'doctor           show what can isolate Python here, and run a cell',
  'servers          list your MCP servers',
  'index            ask them all for their tools',
  'search "QUERY"   find tools by what they do',
  'exec -c "1 + 1"  run Python once',
  'shell            run Python at a prompt',
]

/** @param commands of this build */
function welcome(commands: readonly string[]): void {
  const lines = WORTH_TRYING.filter((line) => commands.includes(line.split(' ', 1)[0]!))
  print(`Sandbridge ${VERSION}: an MCP server with one tool, run_python, whose sandboxed code calls the tools of all your MCP servers.

An MCP client starts this command and talks to it over stdin and stdout. At a terminal, try:

${lines.map((line) => `  sandbridge ${line}`).join('\n')}

See \`sandbridge --help\` for every command. To serve MCP from this terminal all the same: \`sandbridge run\`.`)
}
