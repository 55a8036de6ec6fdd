// The run_python tool: its definition, byte for byte the same in every configuration, and its arguments. For standalone
// requests (MCP 2026-07-28 over HTTP), one more argument names the session. Every conversation pays for it. Pure.
import type { Settings } from '../../../config/settings/settings.ts'
import { BridgeError } from '../../../errors.ts'
import { secondsOf } from '../../../util/duration.ts'
import { readArguments } from '../../client-arguments.ts'

export const RUN_PYTHON_TOOL = {
  name: 'run_python',
  description:
    "Run Python in a sandbox, with all MCP servers' tools: variables persist, host files only through tools. " +
    "Find by 2-4 wordings: print(await runtime.search_tool_docs('create issue', 'open ticket')). " +
    "Call with keyword arguments: await mcp_github.create_issue(title='x'). " +
    'Guide: print(runtime.capability_summary())',
  inputSchema: {
    type: 'object' as const,
    properties: {
      code: { type: 'string' as const },
      servers: { type: 'array' as const, items: { type: 'string' as const }, description: 'only these' },
      timeout: { type: 'number' as const, description: 'seconds' },
    },
    required: ['code'],
  },
  // Claude Code defers definitions; this one is small and is the way to all others.
  _meta: { 'anthropic/alwaysLoad': true },
}

const SERVER_INSTRUCTIONS =
  'run_python finds and calls, from Python, the tools of every MCP server the user has configured: ' +
  'files, web, databases, repositories, issues, messages, browsers and whatever else they offer.'

/**
 * Searched, beside the tool's name, by clients that defer definitions. The servers are named here and not in the tool's
 * description: clients cache a prompt from its tools on, and the tools would change with the configuration.
 * @param names the configured servers: see `upstreamNames`
 * @param text what the server says of itself, where it does not offer code
 */
export function serverInstructions(names = '', text = SERVER_INSTRUCTIONS): string {
  return [text, names].filter(Boolean).join(' ')
}

export const RUN_PYTHON_TOOL_WITH_SESSION = {
  ...RUN_PYTHON_TOOL,
  inputSchema: {
    ...RUN_PYTHON_TOOL.inputSchema,
    properties: {
      ...RUN_PYTHON_TOOL.inputSchema.properties,
      session: { type: 'string' as const, description: 'session handle from an earlier result' },
    },
  },
}

/**
 * Adds the annotations: under `readonly` no call changes anything outside the sandbox, unless a host folder is mounted
 * writable. A tool without annotations counts as destructive (MCP 2025-11-25, Tools, ToolAnnotations), which is correct
 * in all other cases.
 */
export function marked<T extends object>(tool: T, { permissions, mount }: Pick<Settings, 'permissions' | 'mount'>): T {
  const isReadOnly = permissions === 'readonly' && mount?.mode !== 'rw'
  return isReadOnly ? { ...tool, annotations: { readOnlyHint: true } } : tool
}

type TimeLimits = Pick<Settings, 'timeoutMs' | 'maxTimeoutMs'>

/**
 * @param byHandle whether the tool has the argument `session`
 * @param tool the tool that is called, and the language it runs
 * @throws BridgeError TOOL_ARGUMENTS_INVALID that names the argument, its value, and what is allowed
 */
export function parseRunPythonArguments(
  args: unknown,
  limits: TimeLimits,
  byHandle = false,
  tool: { name: string; runs: string } = { name: RUN_PYTHON_TOOL.name, runs: 'Python' },
) {
  const { properties, required } = (byHandle ? RUN_PYTHON_TOOL_WITH_SESSION : RUN_PYTHON_TOOL).inputSchema
  const read = readArguments(args, { name: tool.name, properties, required })
  const { code, servers, timeout, session } = read.args
  return {
    ...(read.note !== undefined && { note: read.note }),
    code: parseCode(code, tool.runs),
    ...(session !== undefined && { session: parseSession(session) }),
    ...(servers !== undefined && { servers: parseServers(servers) }),
    timeoutMs: parseTimeout(timeout, limits),
  }
}

function parseCode(code: unknown, runs: string): string {
  if (code === undefined) throw invalid(`'code' is missing: pass the ${runs} source to run`)
  if (typeof code !== 'string') throw invalid(`'code' must be a string of ${runs} source, not ${describe(code)}`)
  if (code.trim() === '') throw invalid(`'code' is empty: pass the ${runs} source to run`)
  // `compile` refuses a byte order mark in a text. Windows editors write one.
  return code.startsWith('\uFEFF') ? code.slice(1) : code
}

function parseSession(session: unknown): string {
  if (typeof session === 'string' && session.trim() !== '') return session
  const problem = typeof session === 'string' ? 'is empty' : `must be a string, not ${describe(session)}`
  throw invalid(`'session' ${problem}: pass the handle from an earlier result, or omit it to start a new session`)
}

function parseServers(servers: unknown): string[] {
  if (!Array.isArray(servers)) throw invalid(`'servers' must be a list of server names, not ${describe(servers)}`)
  return servers.flatMap((name: unknown) => {
    // No name of a server has a comma.
    if (typeof name === 'string') return name.split(',').map((one) => one.trim())
    throw invalid(`'servers' must be a list of server names; ${describe(name)} is not a server name`)
  })
}

function parseTimeout(timeout: unknown, { timeoutMs, maxTimeoutMs }: TimeLimits): number {
  if (timeout === undefined) return timeoutMs
  const allowed = `a number of seconds, more than 0 and at most ${maxTimeoutMs / 1000}`
  const wanted = secondsOf(timeout)
  if (typeof wanted !== 'number' || Number.isNaN(wanted))
    throw invalid(`'timeout' must be ${allowed}, not ${describe(timeout)}`)
  const wantedMs = wanted * 1000
  if (!(wantedMs > 0) || wantedMs > maxTimeoutMs) throw invalid(`'timeout' is ${wanted}, but must be ${allowed}`)
  return wantedMs
}

function invalid(message: string): BridgeError {
  return new BridgeError('TOOL_ARGUMENTS_INVALID', message)
}

/** Describes a value in an error: its type, and the value itself when it is short. */
function describe(value: unknown): string {
  if (value === null) return 'null'
  const kind = Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `the ${typeof value}`
  const text = JSON.stringify(value) ?? ''
  return text.length <= 40 && typeof value !== 'object' ? `${kind} ${text}` : kind
}
