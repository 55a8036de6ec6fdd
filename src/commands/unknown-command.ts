// What is said to a person who mistyped a command.
import { nearestName } from '../text/did-you-mean.ts'
import { BridgeError } from '../errors.ts'

/** @param group the command that it was to be one of, as `saved ` */
export function unknownCommand(name: string, known: string[], group = ''): BridgeError {
  const meant = nearestName(name, known)
  const didYouMean = meant === undefined ? '' : `Did you mean \`sandbridge ${group}${meant}\`? `
  const hint = `${didYouMean}See \`sandbridge ${group}--help\`.`
  return new BridgeError('TOOL_ARGUMENTS_INVALID', `Unknown command '${group}${name}'`, { hint })
}
