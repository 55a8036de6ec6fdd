// The params of a `call_tool` frame, checked by hand, for speed; a test compares the check with a schema. Pure.
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
  const problems = [
    isName(server) ? '' : `server: ${NO_NAME}`,
    isName(tool) ? '' : `tool: ${NO_NAME}`,
    !Array.isArray(args) ? 'args: not a list' : args.length > MAX_ARGUMENTS ? `args: ${TOO_MANY} items` : '',
    !isRecord(kwargs)
      ? 'kwargs: not an object'
      : Object.keys(kwargs).length > MAX_ARGUMENTS
        ? `kwargs: ${TOO_MANY} named arguments`
        : '',
    typeof raw === 'boolean' ? '' : 'raw: neither true nor false',
    typeof exact === 'boolean' ? '' : 'exact: neither true nor false',
    typeof again === 'boolean' ? '' : 'again: neither true nor false',
  ].filter((problem) => problem !== '')
  if (problems.length > 0) throw invalid(problems)
  return { server, tool, args, kwargs, raw, exact, again } as ToolCallParams
}

const TOO_MANY = `more than ${MAX_ARGUMENTS}`
const NO_NAME = `not a text of 1 to ${MAX_NAME_CHARS} characters`

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_CHARS
}

function invalid(problems: string[]): BridgeError {
  return new BridgeError('PROXY_ARGUMENTS_INVALID', problems.join('; '))
}
