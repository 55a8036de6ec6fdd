// Two tools for clients and models without code: one finds the tools of all servers, one calls them.
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { DirectCall } from '@sandbridge/core/bridge'
import { type CatalogTool, pythonLiteral, type ToolDoc } from '@sandbridge/core/calls/catalog'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { readArguments } from '@sandbridge/core/serve'
import { isRecord } from '@sandbridge/core/util/json/json.ts'

const MAX_FOUND = 20

export const SEARCH_TOOLS = {
  name: 'search_tools',
  description: 'Find tools of all MCP servers by what they do. Several wordings find more than one.',
  inputSchema: {
    type: 'object' as const,
    properties: {
      query: { type: 'array' as const, items: { type: 'string' as const }, description: '2-4 wordings of the need' },
      limit: { type: 'integer' as const, default: 5, maximum: MAX_FOUND },
    },
    required: ['query'],
  },
  annotations: { readOnlyHint: true },
}

export const CALL_TOOL = {
  name: 'call_tool',
  description: 'Call a tool that search_tools found.',
  inputSchema: {
    type: 'object' as const,
    properties: {
      name: { type: 'string' as const, description: 'as search_tools gave it' },
      arguments: { type: 'object' as const, description: 'as its inputSchema says' },
    },
    required: ['name'],
  },
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID */
export function searchCall({ query: wordings, limit = 5 }: Record<string, unknown>): DirectCall {
  if (!Array.isArray(wordings) || wordings.length === 0 || wordings.some((one) => typeof one !== 'string'))
    throw new BridgeError(
      'TOOL_ARGUMENTS_INVALID',
      "'query' must be a list of texts: wordings of what a tool should do",
    )
  const count = Math.min(MAX_FOUND, Math.max(1, Math.trunc(Number(limit)) || 5))
  return {
    method: 'search_tool_docs',
    params: { query: wordings, limit: count, detail: 'summary' },
    code: `runtime.search_tool_docs(${pythonLiteral(wordings, 1_000)?.slice(1, -1) ?? '…'})`,
  }
}

/** What is found, with the schemas that a call needs. Only code calls what cells have saved. */
export function foundTools(reply: unknown, named: ReadonlyMap<string, CatalogTool>): CallToolResult {
  const docs = Array.isArray(reply) ? (reply as ToolDoc[]) : []
  const tools = docs.flatMap(({ server, tool, description, weak }) =>
    [...named]
      .filter(([, one]) => one.server === server && one.name === tool)
      .map(([name, { inputSchema }]) => ({ name, description, ...(weak && { note: weak }), inputSchema })),
  )
  const text = tools.length === 0 ? 'No tool was found.' : tools.map((tool) => JSON.stringify(tool)).join('\n')
  return { content: [{ type: 'text', text }] }
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID */
export function toolNamed(args: Record<string, unknown>) {
  const { name: _, arguments: __, ...beside } = args
  const { args: read, note } = readArguments(args, { name: CALL_TOOL.name, ...CALL_TOOL.inputSchema })
  // Some models write the arguments beside the name.
  const { name, arguments: given = beside } = read
  if (typeof name !== 'string') throw new BridgeError('TOOL_ARGUMENTS_INVALID', "'name' must be a text: a tool's name")
  if (!isRecord(given)) throw new BridgeError('TOOL_ARGUMENTS_INVALID', "'arguments' must be an object")
  return { tool: name, given, note: given === beside ? undefined : note }
}
