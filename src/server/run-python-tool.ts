// The one tool: its definition, byte for byte the same whatever is configured, and the parsing of its arguments. Pure.
// The definition is what every conversation pays for. Anything longer belongs into the capability summary.
import { BridgeError } from '../errors.ts'

export const RUN_PYTHON_TOOL = {
  name: 'run_python',
  description:
    'Run Python in a persistent sandbox whose code can call the tools of every configured MCP server. ' +
    "Find: print(await runtime.search_tool_docs('create issue')). " +
    "Call: await mcp_github.create_issue(title='x'). " +
    "All about it: print(runtime.capability_summary()). The last expression's value is shown.",
  inputSchema: {
    type: 'object' as const,
    properties: {
      code: { type: 'string' as const },
      servers: { type: 'array' as const, items: { type: 'string' as const }, description: 'only these' },
      timeout: { type: 'number' as const, description: 'seconds' },
    },
    required: ['code'],
  },
}

export interface RunPythonArguments {
  code: string
  servers?: string[]
  timeoutMs: number
}

interface TimeLimits {
  timeoutMs: number
  maxTimeoutMs: number
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID that names the argument, what it was, and what is allowed */
export function parseRunPythonArguments(args: unknown, limits: TimeLimits): RunPythonArguments {
  const { code, servers, timeout, ...others } = (args ?? {}) as Record<string, unknown>
  const unknown = Object.keys(others)
  if (unknown.length > 0) throw invalid(`Unknown argument '${unknown[0]}'. run_python takes code, servers and timeout`)
  return {
    code: parseCode(code),
    ...(servers !== undefined && servers !== null && { servers: parseServers(servers) }),
    timeoutMs: parseTimeout(timeout, limits),
  }
}

function parseCode(code: unknown): string {
  if (code === undefined) throw invalid("'code' is missing: pass the Python source to run")
  if (typeof code !== 'string') throw invalid(`'code' must be a string of Python source, not ${describe(code)}`)
  if (code.trim() === '') throw invalid("'code' is empty: pass the Python source to run")
  return code
}

function parseServers(servers: unknown): string[] {
  if (!Array.isArray(servers)) throw invalid(`'servers' must be a list of server names, not ${describe(servers)}`)
  return servers.map((name: unknown) => {
    if (typeof name === 'string') return name
    throw invalid(`'servers' must be a list of server names, and ${describe(name)} is none`)
  })
}

function parseTimeout(timeout: unknown, { timeoutMs, maxTimeoutMs }: TimeLimits): number {
  if (timeout === undefined || timeout === null) return timeoutMs
  const allowed = `a number of seconds, more than 0 and at most ${maxTimeoutMs / 1000}`
  if (typeof timeout !== 'number') throw invalid(`'timeout' must be ${allowed}, not ${describe(timeout)}`)
  const wanted = timeout * 1000
  if (!(wanted > 0) || wanted > maxTimeoutMs) throw invalid(`'timeout' is ${timeout}, but must be ${allowed}`)
  return wanted
}

function invalid(message: string): BridgeError {
  return new BridgeError('TOOL_ARGUMENTS_INVALID', message)
}

/** A value as an error names it: its kind, and the value itself when that is short. */
function describe(value: unknown): string {
  if (value === null) return 'null'
  const kind = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `the ${typeof value}`
  const text = JSON.stringify(value) ?? ''
  return text.length <= 40 && typeof value !== 'object' ? `${kind} ${text}` : kind
}
