// Checks the params of `call_tool` by hand, for speed; a test compares the check with a schema. Pure.
import { BridgeError } from '../../errors.ts'
import { isRecord } from '../../util/json/json.ts'

export const MAX_NAME_CHARS = 1_000
/** Per call. Longer data belongs in a list or a dict. */
export const MAX_ARGUMENTS = 1_000

export interface ToolCallParams {
  server: string
  tool: string
  args: unknown[]
  kwargs: Record<string, unknown>
  raw: boolean
  /** See `BindOptions`. */
  exact: boolean
  /** See `EnteredCall`. */
  again: boolean
}

/** @throws BridgeError PROXY_ARGUMENTS_INVALID */
export function checkToolCall(params: unknown): ToolCallParams {
  if (!isRecord(params)) throw invalid(['params: not an object'])
  const { server, tool, args = [], kwargs = {}, raw = false, exact = false, again = false } = params
  if (
    isName(server) &&
    isName(tool) &&
    Array.isArray(args) &&
    args.length <= MAX_ARGUMENTS &&
    isRecord(kwargs) &&
    Object.keys(kwargs).length <= MAX_ARGUMENTS &&
    typeof raw === 'boolean' &&
    typeof exact === 'boolean' &&
    typeof again === 'boolean'
  )
    return { server, tool, args, kwargs, raw, exact, again }
  throw invalid([
    ...(isName(server) ? [] : [`server: ${NO_NAME}`]),
    ...(isName(tool) ? [] : [`tool: ${NO_NAME}`]),
    ...(Array.isArray(args) ? [] : ['args: not a list']),
    ...(Array.isArray(args) && args.length > MAX_ARGUMENTS ? [`args: more than ${MAX_ARGUMENTS} items`] : []),
    ...(isRecord(kwargs) ? [] : ['kwargs: not an object']),
    ...(isRecord(kwargs) && Object.keys(kwargs).length > MAX_ARGUMENTS
      ? [`kwargs: more than ${MAX_ARGUMENTS} named arguments`]
      : []),
    ...(typeof raw === 'boolean' ? [] : ['raw: neither true nor false']),
    ...(typeof exact === 'boolean' ? [] : ['exact: neither true nor false']),
    ...(typeof again === 'boolean' ? [] : ['again: neither true nor false']),
  ])
}

const NO_NAME = `not a text of 1 to ${MAX_NAME_CHARS} characters`

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_CHARS
}

function invalid(problems: string[]): BridgeError {
  return new BridgeError('PROXY_ARGUMENTS_INVALID', problems.join('; '))
}
