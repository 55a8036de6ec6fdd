// What is said to a person who mistyped a command.
import { nearestName } from '../text/nearest-name.ts'
import { BridgeError } from '../errors.ts'

export function unknownCommand(name: string, known: string[]): BridgeError {
  const meant = nearestName(name, known)
  const hint = `${meant === undefined ? '' : `Did you mean \`sandbridge ${meant}\`? `}See \`sandbridge --help\`.`
  return new BridgeError('TOOL_ARGUMENTS_INVALID', `There is no command '${name}'`, { hint })
}
