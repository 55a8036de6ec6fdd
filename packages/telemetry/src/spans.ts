// Builds spans from runs and calls that have ended, with the MCP semantic conventions:
// `tools/call run_python` (server) → `cell` → `tools/call TOOL` (client).
import type { EventOf, TraceContext } from '@sandbridge/core/observe/events'
import type { Call, Run, Told } from '@sandbridge/core/observe/runs'

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

/** A span that has ended. */
export interface Span {
  trace: TraceContext
  id: string
  /** Missing if the trace begins with the span. */
  parentId: string | undefined
  name: string
  kind: 'internal' | 'server' | 'client'
  /** Milliseconds since 1970. */
  startMs: number
  endMs: number
  /** The span's attributes are the union of these. Spans share objects for attributes they have in common. */
  attributes: readonly Attributes[]
  /** Reason of the failure; missing for success. */
  failure?: string | undefined
}

interface SpanOptions {
  /** Include arguments and results as attributes; only if the user asks for it. */
  capturesContent: boolean
  redact: (server: string, text: string) => string
  /** Transport of each server, by name. */
  transports: ReadonlyMap<string, { transport: string; protocolVersion: string | undefined }>
}

const MAX_CONTENT = 4_000
/** Most tools with cached attributes; the cache is cleared when it is full. */
const MAX_TOOLS = 1_000

export class Spans {
  readonly #options: SpanOptions
  /** Attributes shared by all calls of a tool, so that their text is created once. */
  readonly #ofTools = new Map<string, Attributes>()

  constructor(options: SpanOptions) {
    this.#options = options
  }

  /** Returns the span that the event ends; undefined for other events and for traces that are not sampled. */
  take({ event, run, call }: Told): Span | undefined {
    // The cached attributes contain the old transport.
    if (event.type === 'server.state') this.#ofTools.clear()
    if (!run?.trace?.sampled) return undefined
    if (event.type === 'run.ended') return requestSpan(event, run)
    if (event.type === 'cell.ended') return cellSpan(event, run)
    return event.type === 'call.ended' && call ? this.#callSpan(event, call, run) : undefined
  }

  #callSpan(event: EventOf<'call.ended'>, call: Call, run: Run): Span {
    const { kind, server, name, args, outcome, error, at, startMs } = call
    // Without a resource's URI: names must have few distinct values.
    const title = kind === 'resource' || name === kind ? MCP_METHODS[kind] : `${MCP_METHODS[kind]} ${name}`
    const type = errorType(outcome!, error?.code)
    const attributes: Attributes[] = [
      this.#ofTool(call),
      { 'sandbridge.run.id': run.run, 'mcp.client.name': run.client || undefined },
      { 'sandbridge.call.reused': call.isReused },
    ]
    if (kind === 'resource') attributes.push({ 'mcp.resource.uri': this.#options.redact(server, name) })
    if (type !== undefined) attributes.push({ 'error.type': type })
    if (this.#options.capturesContent) {
      const result = this.#content(server, event.result)
      attributes.push({
        'gen_ai.tool.call.arguments': this.#content(server, args),
        'gen_ai.tool.call.result': result,
      })
    }
    const failure = type && (error?.message ?? 'The result is marked as an error')
    return spanOf(event, run.trace!, { at, mono: run.mono + startMs }, title, 'client', attributes, failure)
  }

  #ofTool(call: Call): Attributes {
    const key = `${call.kind}\n${call.server}\n${call.kind === 'resource' ? '' : call.name}`
    const known = this.#ofTools.get(key)
    if (known) return known
    if (this.#ofTools.size >= MAX_TOOLS) this.#ofTools.clear()
    const attributes = callAttributes(call, this.#options.transports)
    this.#ofTools.set(key, attributes)
    return attributes
  }

  #content(server: string, value: unknown): string {
    return this.#options.redact(server, JSON.stringify(value) ?? 'null').slice(0, MAX_CONTENT)
  }
}

function requestSpan(event: EventOf<'run.ended'>, { request }: Run): Span | undefined {
  if (!request?.trace) return undefined
  const type = errorType(event.outcome, event.error?.code)
  const failure = type && (event.error?.message ?? 'The result is marked as an error')
  const attributes = [runAttributes(request), ofRequest(request), { 'error.type': type }]
  return spanOf(event, request.trace, request, `tools/call ${request.tool}`, 'server', attributes, failure)
}

function cellSpan(event: EventOf<'cell.ended'>, run: Run): Span {
  const { status, raised, stateLost } = event
  const type = status === 'ok' ? undefined : (raised?.name ?? status)
  const also = { 'sandbridge.cell.status': status, 'sandbridge.state_lost': stateLost, 'error.type': type }
  return spanOf(event, run.trace!, run, 'cell', 'internal', [cellAttributes(run), also], type)
}

function spanOf(
  { id, parent, mono }: EventOf<'run.ended' | 'cell.ended' | 'call.ended'>,
  trace: TraceContext,
  start: { at: number; mono: number },
  name: string,
  kind: Span['kind'],
  attributes: readonly Attributes[],
  failure: string | undefined,
): Span {
  // Duration from the monotonic clock.
  const endMs = start.at + (mono - start.mono)
  return { trace, id, parentId: parent ?? trace.parentId, name, kind, startMs: start.at, endMs, attributes, failure }
}

/** Attributes of a request to a server, for spans and metrics. */
export function callAttributes(
  { kind, server, name }: Pick<EventOf<'call.started'>, 'kind' | 'server' | 'name'>,
  transports: SpanOptions['transports'],
): Attributes {
  const { transport, protocolVersion } = transports.get(server) ?? {}
  const isTool = kind === 'tool'
  return {
    'mcp.method.name': MCP_METHODS[kind],
    'gen_ai.tool.name': isTool ? name : undefined,
    'gen_ai.operation.name': isTool ? 'execute_tool' : undefined,
    'gen_ai.prompt.name': kind === 'prompt' ? name : undefined,
    'mcp.server.name': server,
    'mcp.protocol.version': protocolVersion,
    ...networkAttributes(transport === 'stdio' ? 'pipe' : 'tcp'),
  }
}

/** Attributes of a client's request, for spans and metrics. */
export function runAttributes(event: EventOf<'run.started'>): Attributes {
  return {
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': event.tool,
    'gen_ai.operation.name': 'execute_tool',
    'mcp.protocol.version': event.protocolVersion,
    ...networkAttributes(event.transport),
  }
}

/** Attributes of a single request: in metrics, each request would become a series. */
function ofRequest({ id, requestId, client }: EventOf<'run.started'>): Attributes {
  return { 'sandbridge.run.id': id, 'jsonrpc.request.id': requestId, 'mcp.client.name': client }
}

function cellAttributes({ run, number, session, provider, timeoutMs }: Run): Attributes {
  return {
    'sandbridge.run.id': run,
    'sandbridge.cell.number': number,
    'sandbridge.session.id': session || undefined,
    'sandbridge.provider': provider,
    'sandbridge.timeout': timeoutMs / 1000,
  }
}

function networkAttributes(transport: 'pipe' | 'tcp'): Attributes {
  return { 'network.transport': transport, ...(transport === 'tcp' && { 'network.protocol.name': 'http' }) }
}

/** Returns `tool_error` if the result is marked so, else the error's code. */
export function errorType(outcome: string, code: string | undefined): string | undefined {
  if (outcome === 'ok') return undefined
  if (code === undefined) return 'tool_error'
  return code === 'UPSTREAM_TIMEOUT' ? 'timeout' : code
}

/** The MCP method behind each kind of call, in records and spans. */
const MCP_METHODS = {
  tool: 'tools/call',
  resource: 'resources/read',
  prompt: 'prompts/get',
  completion: 'completion/complete',
  resources: 'resources/list',
  prompts: 'prompts/list',
} as const
