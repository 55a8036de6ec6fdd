// How a command that failed says so to a person: what happened and what to do, no stack.
import { BridgeError, messageOf } from '../errors.ts'
import { personHint } from '../proxy/person-hint.ts'
import { visible } from './print.ts'

/** Prints to stderr; returns the exit code. */
export function reportFailure(error: unknown): number {
  // The user pressed Ctrl-C, and needs no message.
  if (BridgeError.isInstance(error) && (error.code === 'CANCELLED' || error.code === 'SHUTTING_DOWN')) return 130
  const hint = BridgeError.isInstance(error) ? personHint(error) : ''
  process.stderr.write(visible(`sandbridge: ${messageOf(error)}${hint && `\n${hint}`}\n`))
  return BridgeError.isInstance(error) ? 2 : 1
}
