// The option `--limit` of commands that print what fits best.
import { BridgeError } from '@sandbridge/core/errors.ts'

const MAX_LIMIT = 100

/**
 * @param text as typed; undefined without the option
 * @throws BridgeError TOOL_ARGUMENTS_INVALID unless it is a whole number from 1 to 100
 */
export function limitOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', `--limit must be a whole number from 1 to ${MAX_LIMIT}`, { hint: '' })
}
