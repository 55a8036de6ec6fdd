// Builds spans from events, with the MCP semantic conventions: `tools/call run_python` (server) → `cell` →
// `tools/call TOOL` (client).
import type { BridgeEvent, EventOf } from '@sandbridge/core/observe/events/event.ts'
import { MCP_METHODS } from '@sandbridge/core/observe/events/mcp-methods.ts'
import type { TraceContext } from '@sandbridge/core/observe/events/trace-context.ts'

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

/** A span that has begun; it is reported when it ends. */
interface Open {
  trace: TraceContext
  at: number
  mono: number
  attributes: readonly Attributes[]
  /** For a cell: attributes shared by all its calls. */
  ofCalls?: Attributes
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
  readonly #open = new Map<string, Open>()
  /** Attributes shared by all calls of a tool, so that their text is created once. */
  readonly #ofTools = new Map<string, Attributes>()

  constructor(options: SpanOptions) {
    this.#options = options
  }

  /** Returns the span that the event ends; undefined for other events and for traces that are not sampled. */
  take(event: BridgeEvent): Span | undefined {
    switch (event.type) {
      case 'run.started':
        this.#begin(event, event.trace, [runAttributes(event), ofRequest(event)])
        return undefined
      case 'cell.started':
        this.#begin(event, event.trace, [cellAttributes(event)], {
          'sandbridge.run.id': event.run,
          'mcp.client.name': event.client,
        })
        return undefined
      case 'call.started':
        this.#callStarted(event)
        return undefined
      case 'server.state':
        // The cached attributes contain the old transport.
        this.#ofTools.clear()
        return undefined
      case 'run.ended':
        return this.#runEnded(event)
      case 'cell.ended':
        return this.#cellEnded(event)
      case 'call.ended':
        return this.#callEnded(event)
      default:
        return undefined
    }
  }

  #begin(
    { id, at, mono }: BridgeEvent,
    trace: TraceContext | undefined,
    attributes: readonly Attributes[],
    ofCalls?: Attributes,
  ): void {
    if (trace?.sampled) this.#open.set(id, { trace, at, mono, attributes, ...(ofCalls && { ofCalls }) })
  }

  #callStarted(event: EventOf<'call.started'>): void {
    const cell = this.#open.get(event.parent ?? '')
    if (!cell) return
    const attributes = [this.#ofTool(event), cell.ofCalls ?? {}]
    const { kind, server, name, args } = event
    if (kind === 'resource') attributes.push({ 'mcp.resource.uri': this.#options.redact(server, name) })
    if (this.#options.capturesContent) attributes.push({ 'gen_ai.tool.call.arguments': this.#content(server, args) })
    this.#begin(event, cell.trace, attributes)
  }

  /** @param name the span's name @param also attributes known at the end @param failure reason of the failure */
  #end(event: BridgeEvent, name: string, kind: Span['kind'], also?: Attributes, failure?: string): Span | undefined {
    const open = this.#open.get(event.id)
    this.#open.delete(event.id)
    if (!open) return undefined
    const { trace, at, mono, attributes } = open
    return {
      trace,
      id: event.id,
      parentId: event.parent ?? trace.parentId,
      name,
      kind,
      startMs: at,
      // Duration from the monotonic clock.
      endMs: at + (event.mono - mono),
      attributes: also ? [...attributes, also] : attributes,
      failure,
    }
  }

  #runEnded(event: EventOf<'run.ended'>): Span | undefined {
    const error = errorType(event.outcome, event.error?.code)
    const tool = String(this.#open.get(event.id)?.attributes[0]?.['gen_ai.tool.name'] ?? 'run_python')
    const failure = error && (event.error?.message ?? 'The result is marked as an error')
    return this.#end(event, `tools/call ${tool}`, 'server', { 'error.type': error }, failure)
  }

  #cellEnded(event: EventOf<'cell.ended'>): Span | undefined {
    const { status, raised, stateLost } = event
    const error = status === 'ok' ? undefined : (raised?.name ?? status)
    const also = { 'sandbridge.cell.status': status, 'sandbridge.state_lost': stateLost, 'error.type': error }
    return this.#end(event, 'cell', 'internal', also, error)
  }

  #callEnded(event: EventOf<'call.ended'>): Span | undefined {
    const { kind, server, name, outcome, error, result } = event
    // Without a resource's URI: names must have few distinct values.
    const title = kind === 'resource' || name === kind ? MCP_METHODS[kind] : `${MCP_METHODS[kind]} ${name}`
    const type = errorType(outcome, error?.code)
    const failure = type && (error?.message ?? 'The result is marked as an error')
    const content = this.#options.capturesContent && this.#content(server, result)
    const also = {
      ...(type !== undefined && { 'error.type': type }),
      ...(content !== false && { 'gen_ai.tool.call.result': content }),
    }
    return this.#end(event, title, 'client', type === undefined && content === false ? undefined : also, failure)
  }

  #ofTool(event: EventOf<'call.started'>): Attributes {
    const key = `${event.kind}\n${event.server}\n${event.kind === 'resource' ? '' : event.name}`
    const known = this.#ofTools.get(key)
    if (known) return known
    if (this.#ofTools.size >= MAX_TOOLS) this.#ofTools.clear()
    const attributes = callAttributes(event, this.#options.transports)
    this.#ofTools.set(key, attributes)
    return attributes
  }

  #content(server: string, value: unknown): string {
    return this.#options.redact(server, JSON.stringify(value) ?? 'null').slice(0, MAX_CONTENT)
  }
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

function cellAttributes({ run, number, session, provider, timeoutMs }: EventOf<'cell.started'>): Attributes {
  return {
    'sandbridge.run.id': run,
    'sandbridge.cell.number': number,
    'sandbridge.session.id': session,
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
