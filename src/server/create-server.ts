// The MCP server that a client talks to: one tool, and resources. One instance serves one connection, in whichever protocol era the client speaks.
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Bridge } from '../bridge.ts'
import type { Settings } from '../config/settings.ts'
import { BridgeError, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { renderResult } from '../render/render-result.ts'
import type { Session } from '../session/session.ts'
import { TimeLimit } from '../session/time-limit.ts'
import { VERSION } from '../version.ts'
import { listArtifactResources, readArtifactResource } from './artifact-resources.ts'
import { type ClientQuirks, quirksOf } from './client-quirks.ts'
import { OpenRun } from './open-run.ts'
import { rehearse } from './rehearse.ts'
import { OUTPUT_TEMPLATE, readOutputResource } from './output-resource.ts'
import { parseRunPythonArguments, RUN_PYTHON_TOOL } from './run-python-tool.ts'

const CAPABILITIES_RESOURCE = {
  uri: 'resource://mcp-server-code-execution-mode/capabilities',
  name: 'capabilities',
  title: 'What run_python can do',
  mimeType: 'text/markdown',
}

/** What answers a client, once it is loaded: a bridge, and the client's session in it. */
export interface Conversation {
  bridge: Bridge
  session: Session
}

export interface ServerParts {
  settings: Settings
  log: Log
  /** The same at every call; nothing is read or started before the first. */
  converse: () => Promise<Conversation>
}

export function createServer(parts: ServerParts): Server {
  const { log, converse } = parts
  const server = new Server({ name: 'sandbridge', version: VERSION }, { capabilities: { tools: {}, resources: {} } })

  /** Calls that wait for the client to come back with an answer. They end with their cells. */
  const runs = new Map<string, OpenRun>()

  function startRun(capabilities: ClientCapabilities, args: unknown, quirks: ClientQuirks): OpenRun {
    const run = new OpenRun(capabilities)
    runs.set(run.id, run)
    run.start(runPython(parts, args, run, quirks))
    return run
  }

  /** In the modern era each request says what its client can do, in the older one the handshake did. */
  function capabilitiesOf({ mcpReq }: ServerContext): ClientCapabilities {
    // The package's type of the envelope is empty, what it validates is not.
    const envelope = mcpReq.envelope as Record<string, ClientCapabilities> | undefined
    return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {}
  }

  function quirksFor({ mcpReq }: ServerContext): ClientQuirks {
    const envelope = mcpReq.envelope as Record<string, { name?: string }> | undefined
    return quirksOf(envelope?.[CLIENT_INFO_META_KEY]?.name ?? server.getClientVersion()?.name)
  }

  async function warmUp(): Promise<void> {
    try {
      const { bridge } = await converse()
      bridge.warmUp()
      await rehearse(() => createServer(parts))
    } catch (error) {
      log.error('Nothing could be prepared', { error })
    }
  }

  server.setRequestHandler('tools/list', () => {
    // The client is about to use the tool: have a sandbox ready by then. But first it gets its answer.
    setImmediate(() => void warmUp())
    return { tools: [RUN_PYTHON_TOOL] }
  })

  server.setRequestHandler('tools/call', async (request, context) => {
    const { name, arguments: args } = request.params
    if (name !== RUN_PYTHON_TOOL.name) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool '${name}'; the only one is run_python`)
    }
    const { mcpReq } = context
    const capabilities = capabilitiesOf(context)
    const state = mcpReq.requestState<string>()
    const run = (state && runs.get(state)) || startRun(capabilities, args, quirksFor(context))
    run.progress.reportTo(context)
    run.answer(mcpReq.inputResponses)
    mcpReq.signal.addEventListener('abort', () => run.cancel(), { once: true })
    const event = await run.next()
    await run.progress.stop()
    if ('result' in event) {
      runs.delete(run.id)
      return event.result
    }
    return inputRequired({ inputRequests: event.questions, requestState: event.state })
  })

  server.setRequestHandler('resources/list', async () => ({
    resources: [CAPABILITIES_RESOURCE, ...(await listArtifactResources((await converse()).bridge.artifacts))],
  }))

  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [OUTPUT_TEMPLATE] }))

  async function readKept(uri: string): Promise<ReadResourceResult | undefined> {
    const { bridge, session } = await converse()
    try {
      return readOutputResource(session, uri) ?? (await readArtifactResource(bridge.artifacts, uri))
    } catch (error) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, messageOf(error), { uri })
    }
  }

  server.setRequestHandler('resources/read', async (request) => {
    const { uri } = request.params
    const kept = await readKept(uri)
    if (kept) return kept
    if (uri !== CAPABILITIES_RESOURCE.uri) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no resource '${uri}'`, { uri })
    }
    const { mimeType } = CAPABILITIES_RESOURCE
    return { contents: [{ uri, mimeType, text: await (await converse()).bridge.capabilitySummary() }] }
  })

  return server
}

/** Whatever goes wrong is a tool result that the model can read and act on (MCP 2025-11-25, Tools, Error Handling). */
async function runPython(
  { settings, log, converse }: ServerParts,
  args: unknown,
  run: OpenRun,
  { maxOutputTokens = Infinity, textOnly = false }: ClientQuirks,
): Promise<CallToolResult> {
  try {
    const request = parseRunPythonArguments(args, settings)
    const { bridge, session } = await converse()
    bridge.questions.clientOffers(run.methods)
    const timeLimit = new TimeLimit(request.timeoutMs)
    run.pauses(timeLimit)
    const { listeners } = run.progress
    const result = await bridge.runCell(session, {
      ...request,
      ...listeners,
      timeLimit,
      signal: run.signal,
      asker: run,
    })
    const outputTokens = Math.min(settings.outputTokenCount, maxOutputTokens)
    return { ...renderResult(result, { mode: settings.outputMode, outputTokens, textOnly }) }
  } catch (error) {
    if (!BridgeError.isInstance(error)) log.error('A cell could not be run', { error })
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
