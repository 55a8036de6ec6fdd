// Runs the command that the words of a command line name, and says what was meant where there is none.
import { CommanderError } from 'commander'
import type { Command } from './command.ts'
import { createProgram } from './commands.ts'
import { examplesText } from './examples.ts'
import { features, type Package, plugIn } from './package.ts'
import { OWN_TERMINAL, type Terminal } from './terminal/terminal.ts'

/** The exit code for invalid usage. */
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
    if (first === undefined && terminal.stdin.isTTY && terminal.stdout.isTTY) {
      const { welcome } = await import('./welcome.ts')
      welcome(names)
    } else await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    // Commander has already printed the error. Printing help is not an error.
    if (error instanceof CommanderError) terminal.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR
    else {
      const { reportFailure } = await import('./terminal/report-failure.ts')
      const code = reportFailure(error, terminal)
      // Set already by a config file that cannot be read: that a name is unknown may only follow from it.
      terminal.exitCode ||= code
    }
  }
}

function addExamples(command: Command, words: readonly string[]): void {
  command.addHelpText('after', () => examplesText(words.join(' ')))
  for (const sub of command.commands) addExamples(sub, [...words, sub.name()])
}
