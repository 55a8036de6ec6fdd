// Revisions from 2026-07-28: a server starts with `server/discover`, may answer any call with a task, has no ping and
// announces changes only to subscribers.
import type { CallToolRequestOptions, Client, Tool } from '@modelcontextprotocol/client'
import { type Abortable, signalOf } from '../../../util/async/cancellation.ts'
import type { Via } from '../../dial.ts'
import type { ToolList } from '../../listing/tool-list.ts'
import type { CallOptions, UpstreamTool } from '../../upstream.ts'
import { answerRequest, type UpstreamRequests } from '../requests.ts'
import { LOG_LEVEL, request, requestOptions, type Revision, taskRequests, type ToolCall } from '../revision.ts'
import { NO_TIMEOUT_MS, unwrapRaw, type LooseResult } from '../sdk.ts'
import { headerParameters } from './header-parameters.ts'
import { awaitTask, isTaskHandle } from './task-extension.ts'

/** Where a request carries the log level. */
const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel'
/** The JSON-RPC error code for parameters that must be repeated in HTTP headers. */
const HEADER_MISMATCH = -32_020

interface ModernParts {
  client: Client
  server: string
  via: Via
  /** Answers requests of the server while a call continues as a task. */
  requests: UpstreamRequests
}

export class Modern implements Revision {
  readonly meta: Record<string, unknown> | undefined
  readonly anyMethod = 'tools/list'
  readonly #parts: ModernParts
  /** Tools with parameters that must be repeated in HTTP headers. */
  readonly #withHeaders = new Map<string, UpstreamTool>()

  constructor(parts: ModernParts) {
    this.#parts = parts
    this.meta = parts.client.getServerCapabilities()?.logging && { [LOG_LEVEL_KEY]: LOG_LEVEL }
  }

  send(params: ToolCall, signal: Abortable | undefined): Promise<LooseResult> {
    const { client } = this.#parts
    const definition = this.#withHeaders.get(params.name)
    const options = requestOptions(NO_TIMEOUT_MS, signal && signalOf(signal))
    return definition
      ? callWithHeaders(client, params, definition, options)
      : request(client, 'tools/call', params, options)
  }

  /** A server may answer any call with a task. */
  async awaited(answer: LooseResult, { signal, onProgress }: CallOptions): Promise<LooseResult> {
    if (!isTaskHandle(answer)) return answer
    const { client, server, requests } = this.#parts
    return awaitTask(answer, {
      ...(signal && { signal: signalOf(signal) }),
      ...(onProgress && { onProgress }),
      server,
      request: taskRequests(client, server),
      answer: (method, body, abort) => answerRequest(requests, server, { method, params: body }, abort),
    })
  }

  isCalledOtherwise(error: unknown): boolean {
    return (error as { code?: unknown }).code === HEADER_MISMATCH
  }

  learn(list: ToolList): ToolList {
    if (this.#parts.via !== 'http') return list
    this.#withHeaders.clear()
    const tools = list.tools.filter((tool) => {
      const verdict = headerParameters(tool.inputSchema)
      if (verdict === 'valid') this.#withHeaders.set(tool.name, tool)
      return verdict !== 'invalid'
    })
    return { ...list, tools, skippedCount: list.skippedCount + list.tools.length - tools.length }
  }

  async begin(onError: (message: string) => void): Promise<void> {
    const { client } = this.#parts
    const { tools, resources, prompts } = client.getServerCapabilities() ?? {}
    const wanted = {
      ...(tools?.listChanged && { toolsListChanged: true }),
      ...(resources?.listChanged && { resourcesListChanged: true }),
      ...(prompts?.listChanged && { promptsListChanged: true }),
    }
    // Not awaited: a refused subscription is ignored.
    if (Object.keys(wanted).length > 0) client.listen(wanted).catch((error: Error) => onError(error.message))
  }
}

/**
 * The package converts parameters to headers only with a tool's definition, but must not validate the result against
 * it.
 */
async function callWithHeaders(
  client: Client,
  params: ToolCall,
  { name, inputSchema }: UpstreamTool,
  options: CallToolRequestOptions,
): Promise<LooseResult> {
  const toolDefinition = { name, inputSchema } as Tool
  return unwrapRaw(await client.callTool(params, { ...options, toolDefinition }))
}
