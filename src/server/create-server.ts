// The MCP server that a client talks to: one tool, one resource. One instance serves one connection, in whichever protocol era the client speaks.
import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { Bridge } from '../bridge.ts'
import { BridgeError, messageOf } from '../errors.ts'
import { renderResult } from '../render/render-result.ts'
import type { Session } from '../session/session.ts'
import { VERSION } from '../version.ts'
import { parseRunPythonArguments, RUN_PYTHON_TOOL } from './run-python-tool.ts'

const CAPABILITIES_RESOURCE = {
  uri: 'resource://mcp-server-code-execution-mode/capabilities',
  name: 'capabilities',
  title: 'What run_python can do',
  mimeType: 'text/markdown',
}

export function createServer(bridge: Bridge, session: Session): Server {
  const server = new Server({ name: 'sandbridge', version: VERSION }, { capabilities: { tools: {}, resources: {} } })

  server.setRequestHandler('tools/list', () => {
    // The client is about to use the tool: have a sandbox ready by then.
    bridge.warmUp()
    return { tools: [RUN_PYTHON_TOOL] }
  })

  server.setRequestHandler('tools/call', async (request, context) => {
    const { name, arguments: args } = request.params
    if (name !== RUN_PYTHON_TOOL.name) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool '${name}'; the only one is run_python`)
    }
    return runPython(bridge, session, args, context.mcpReq.signal)
  })

  server.setRequestHandler('resources/list', () => ({ resources: [CAPABILITIES_RESOURCE] }))

  server.setRequestHandler('resources/read', (request) => {
    const { uri } = request.params
    if (uri !== CAPABILITIES_RESOURCE.uri) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no resource '${uri}'`, { uri })
    }
    const { mimeType } = CAPABILITIES_RESOURCE
    return { contents: [{ uri, mimeType, text: bridge.capabilitySummary() }] }
  })

  return server
}

/** Whatever goes wrong is a tool result that the model can read and act on (MCP 2025-11-25, Tools, Error Handling). */
async function runPython(
  bridge: Bridge,
  session: Session,
  args: unknown,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { settings } = bridge
  try {
    const request = parseRunPythonArguments(args, settings)
    const result = await bridge.runCell(session, { ...request, signal })
    return { ...renderResult(result, { mode: settings.outputMode, outputTokens: settings.outputTokenCount }) }
  } catch (error) {
    if (!BridgeError.isInstance(error)) bridge.log.error('A cell could not be run', { error })
    return failure(error)
  }
}

function failure(error: unknown): CallToolResult {
  if (!BridgeError.isInstance(error)) {
    return { isError: true, content: [{ type: 'text', text: `sandbridge failed: ${messageOf(error)}` }] }
  }
  const { code, message, hint } = error
  return {
    isError: true,
    content: [{ type: 'text', text: hint ? `${message}\n${hint}` : message }],
    structuredContent: { status: 'error', error: { code, message, ...(hint && { hint }) } },
  }
}
