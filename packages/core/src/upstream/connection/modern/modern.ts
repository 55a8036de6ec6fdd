// Revisions from 2026-07-28: `server/discover`, tasks for any call, no ping, changes only for subscribers.
import type { CallToolRequestOptions, Client, Tool } from '@modelcontextprotocol/client'
import { signalOf } from '../../../util/async/cancellation.ts'
import type { Via } from '../../dial.ts'
import type { UpstreamTool } from '../../upstream.ts'
import { answerRequest, type UpstreamRequests } from '../requests.ts'
import { LOG_LEVEL, request, requestOptions, type Revision, taskRequests, type ToolCall } from '../revision.ts'
import { NO_TIMEOUT_MS, unwrapRaw, type LooseResult } from '../sdk.ts'
import { awaitTask, isTaskHandle } from './task-extension.ts'
import { isRecord } from '../../../util/json/json.ts'

/** Where a request carries the log level. */
const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel'
/** The JSON-RPC error code for parameters that must be repeated in HTTP headers. */
const HEADER_MISMATCH = -32_020

/** @param requests answers requests of the server while a call continues as a task */
export function modern(client: Client, server: string, via: Via, requests: UpstreamRequests): Revision {
  /** Tools with parameters that must be repeated in HTTP headers. */
  const withHeaders = new Map<string, UpstreamTool>()
  return {
    meta: client.getServerCapabilities()?.logging && { [LOG_LEVEL_KEY]: LOG_LEVEL },
    anyMethod: 'tools/list',
    send(params, signal) {
      const definition = withHeaders.get(params.name)
      const options = requestOptions(NO_TIMEOUT_MS, signal && signalOf(signal))
      return definition
        ? callWithHeaders(client, params, definition, options)
        : request(client, 'tools/call', params, options)
    },
    /** A server may answer any call with a task. */
    awaited: async (answer, { signal, onProgress }) => {
      if (!isTaskHandle(answer)) return answer
      return awaitTask(answer, {
        ...(signal && { signal: signalOf(signal) }),
        ...(onProgress && { onProgress }),
        server,
        request: taskRequests(client, server),
        answer: (method, body, abort) => answerRequest(requests, server, { method, params: body }, abort),
      })
    },
    isCalledOtherwise: (error) => (error as { code?: unknown }).code === HEADER_MISMATCH,
    learn: (list) => {
      if (via !== 'http') return list
      withHeaders.clear()
      const skipped = [...list.skipped]
      const tools = list.tools.filter((tool) => {
        const verdict = headerParameters(tool.inputSchema)
        if (verdict === 'valid') withHeaders.set(tool.name, tool)
        if (verdict === 'invalid') skipped.push({ name: tool.name, reason: 'its `x-mcp-header` is invalid' })
        return verdict !== 'invalid'
      })
      return { ...list, tools, skipped }
    },
    begin: async (onError) => {
      const { tools, resources, prompts } = client.getServerCapabilities() ?? {}
      const wanted = {
        ...(tools?.listChanged && { toolsListChanged: true }),
        ...(resources?.listChanged && { resourcesListChanged: true }),
        ...(prompts?.listChanged && { promptsListChanged: true }),
      }
      // Not awaited: a refused subscription is ignored.
      if (Object.keys(wanted).length > 0) client.listen(wanted).catch((error: Error) => onError(error.message))
    },
  }
}

/** The package converts parameters to headers only with a tool's definition, but must not validate the result. */
async function callWithHeaders(
  client: Client,
  params: ToolCall,
  { name, inputSchema }: UpstreamTool,
  options: CallToolRequestOptions,
): Promise<LooseResult> {
  const toolDefinition = { name, inputSchema } as Tool
  return unwrapRaw(await client.callTool(params, { ...options, toolDefinition }))
}

const KEY = 'x-mcp-header'
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES = new Set<unknown>(['string', 'integer', 'boolean'])

/** Keywords that hold schemas in which the key is not allowed; `default` and `enum` hold values. */
const ELSEWHERE = (
  'items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames patternProperties ' +
  'dependentSchemas oneOf anyOf allOf not if then else $defs definitions'
).split(' ')
const NAMED = new Set(['patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/** A tool with `invalid` header parameters must be neither called nor shown. */
export function headerParameters(inputSchema: unknown): 'none' | 'valid' | 'invalid' {
  const names = new Set<string>()
  return isSound(inputSchema, 'root', names) ? (names.size > 0 ? 'valid' : 'none') : 'invalid'
}

function isSound(schema: unknown, place: 'root' | 'property' | 'elsewhere', names: Set<string>): boolean {
  if (!isRecord(schema)) return true
  if (KEY in schema) {
    const name = schema[KEY]
    if (place !== 'property' || typeof name !== 'string' || !TOKEN.test(name) || !TYPES.has(schema.type)) return false
    // Header names are case-insensitive.
    if (names.has(name.toLowerCase())) return false
    names.add(name.toLowerCase())
  }
  const inner = place === 'elsewhere' ? 'elsewhere' : 'property'
  if (isRecord(schema.properties) && !Object.values(schema.properties).every((child) => isSound(child, inner, names))) {
    return false
  }
  return ELSEWHERE.every((keyword) => {
    const value = schema[keyword]
    const children = Array.isArray(value)
      ? value
      : NAMED.has(keyword) && isRecord(value)
        ? Object.values(value)
        : [value]
    return children.every((child) => isSound(child, 'elsewhere', names))
  })
}
