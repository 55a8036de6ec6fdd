// Tells the user that a command failed or is unknown: what happened and what to do, without a stack.
import { BridgeError, messageOf } from '../../../errors.ts'
import { personHint } from '../../../calls/person-hint.ts'
import { nearestName } from '../../../util/text/did-you-mean.ts'
import { visible } from './print.ts'
import { OWN_TERMINAL, type Terminal } from './terminal.ts'

/** Prints to stderr. @returns the exit code */
export function reportFailure(error: unknown, { stderr }: Pick<Terminal, 'stderr'> = OWN_TERMINAL): number {
  // The user pressed Ctrl-C and needs no message.
  if (BridgeError.isInstance(error) && (error.code === 'CANCELLED' || error.code === 'SHUTTING_DOWN')) return 130
  const hint = BridgeError.isInstance(error) ? personHint(error) : ''
  stderr.write(visible(`sandbridge: ${messageOf(error)}${hint && `\n${hint}`}\n`))
  return BridgeError.isInstance(error) ? 2 : 1
}

/** @param group the parent command with a trailing space, such as `saved ` */
export function unknownCommand(name: string, known: string[], group = ''): BridgeError {
  const meant = nearestName(name, known)
  const didYouMean = meant === undefined ? '' : `Did you mean \`sandbridge ${group}${meant}\`? `
  const hint = `${didYouMean}See \`sandbridge ${group}--help\`.`
  return new BridgeError('TOOL_ARGUMENTS_INVALID', `Unknown command '${group}${name}'`, { hint })
}
