// Hints for a person at a terminal, where a hint about what to write in a cell does not help.
import { BridgeError, ERROR_CODES, type ErrorCode } from '../errors.ts'

/** Replacements for hints that address a model. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  PROXY_SERVER_UNAVAILABLE: 'See `sandbridge servers`.',
  PROXY_TOOL_UNKNOWN: 'See `sandbridge tools SERVER`.',
  PROXY_ARGUMENTS_INVALID: 'See `sandbridge tools SERVER TOOL`.',
  TOOL_ARGUMENTS_INVALID: 'See `sandbridge --help`.',
  STATE_NOT_FOUND: 'See `sandbridge artifacts` and `sandbridge saved`.',
  UPSTREAM_AUTH_REQUIRED: 'Sign in with `sandbridge login NAME`.',
  UPSTREAM_LINK_REQUIRED: 'Open the link, then run this command again.',
  UPSTREAM_TIMEOUT: 'Run it again, or set a longer timeout in the server’s entry.',
}

/** Empty when there is nothing to do. */
export function personHint(error: BridgeError): string {
  const { hint, actor } = ERROR_CODES[error.code]
  if (error.userHint !== undefined) return error.userHint
  if (error.hint !== hint) return error.hint
  return HINTS[error.code] ?? (actor === 'model' ? '' : hint)
}

/** Returns the error with the hint for a person instead of the one for a model; other errors unchanged. */
export function forPerson(error: unknown): unknown {
  if (!BridgeError.isInstance(error)) return error
  const { code, message, data, log } = error
  return new BridgeError(code, message, {
    hint: personHint(error),
    data,
    cause: error,
    ...(log !== undefined && { log }),
  })
}
