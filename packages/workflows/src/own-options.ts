// Parameters of a workflow that are named like an option of the command, which takes what is typed under that name.
import type { Command } from '@sandbridge/core/serve/cli'
import { tell } from '@sandbridge/core/serve/cli/terminal'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { WorkflowDetails } from '@sandbridge/memories/saved/saved-tool.ts'
import { parseArguments } from './parameters.ts'

/** The options of a command and of the program, such as `--timeout`: all, and those that were typed. */
export interface OwnOptions {
  all: ReadonlySet<string>
  typed: ReadonlySet<string>
}

/** Once its command line has been parsed. */
export function ownOptions(command: Command, program: Command): OwnOptions {
  const options = [...command.shownOptions, ...program.options]
  const typed = options.filter((option) => command.getOptionValueSourceWithGlobals(option.attributeName()) === 'cli')
  const longNames = (list: typeof options): string[] => list.flatMap(({ long }) => long ?? [])
  return { all: new Set([...longNames(options), '--help']), typed: new Set(longNames(typed)) }
}

/**
 * The arguments by name. Says where a parameter belongs that the command took for its own option.
 * @throws BridgeError TOOL_ARGUMENTS_INVALID
 */
export function parseTyped(
  words: readonly string[],
  parameters: WorkflowDetails['parameters'],
  { all, typed }: OwnOptions,
): Record<string, unknown> {
  const named = parameters.map(({ name }) => ({ name, option: `--${name.replaceAll('_', '-')}` }))
  try {
    const args = parseArguments(words, parameters)
    const taken = named.filter(({ name, option }) => typed.has(option) && !Object.hasOwn(args, name))
    if (taken.length > 0) tell(afterDashes(taken.map(({ option }) => option)))
    return args
  } catch (error) {
    const clashing = named.filter(({ option }) => all.has(option)).map(({ option }) => option)
    if (!BridgeError.isInstance(error) || clashing.length === 0) throw error
    const hint = [error.hint, afterDashes(clashing)].filter(Boolean).join(' ')
    throw new BridgeError(error.code, error.message, { hint })
  }
}

function afterDashes(options: readonly string[]): string {
  const lines = options.map(
    (option) => `${option} is an option of this command: write the parameter as -- ${option} VALUE`,
  )
  return `${lines.join('. ')}.`
}
