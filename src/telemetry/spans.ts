// Makes spans of events, by the semantic conventions for MCP: `tools/call run_python` (server) → `cell` → `tools/call TOOL` (client).
import type { BridgeEvent, EventOf } from '../events/event.ts'
import type { TraceContext } from '../events/trace-context.ts'
import type { Attributes, Span } from './otlp.ts'

const METHODS = { tool: 'tools/call', resource: 'resources/read', prompt: 'prompts/get' } as const

/** A thing that has begun, and is told of when it has ended. */
interface Open {
  trace: TraceContext
  at: number
  mono: number
  attributes: OpenAttributes
}

/** Those that are known at the end have their keys from the beginning: adding one to each object takes much longer. */
type OpenAttributes = Record<string, Attributes[string]>

interface SpanOptions {
  /** Arguments and results, as attributes; only where the user asks for them. */
  capturesContent: boolean
  redact: (server: string, text: string) => string
  /** How servers are reached, by name. */
  transports: ReadonlyMap<string, { transport: string; protocolVersion: string | undefined }>
}

const MAX_CONTENT = 4_000

export class Spans {
  readonly #options: SpanOptions
  readonly #open = new Map<string, Open>()

  constructor(options: SpanOptions) {
    this.#options = options
  }

  /** The span that ends with the event; undefined for other events, and for traces that are not sampled. */
  take(event: BridgeEvent): Span | undefined {
    switch (event.type) {
      case 'run.started':
        this.#begin(event, event.trace, runAttributes(event))
        return undefined
      case 'cell.started':
        this.#begin(event, event.trace, cellAttributes(event))
        return undefined
      case 'call.started':
        this.#begin(event, this.#open.get(event.parent ?? '')?.trace, this.#callAttributes(event))
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

  #begin({ id, at, mono }: BridgeEvent, trace: TraceContext | undefined, attributes: OpenAttributes): void {
    if (trace?.sampled) this.#open.set(id, { trace, at, mono, attributes })
  }

  /** @param error what it is called @param failure why it failed */
  #end(event: BridgeEvent, name: string, kind: Span['kind'], error?: string, failure?: string): Span | undefined {
    const open = this.#open.get(event.id)
    this.#open.delete(event.id)
    if (!open) return undefined
    const { trace, at, mono, attributes } = open
    attributes['error.type'] = error
    return {
      traceId: trace.traceId,
      spanId: event.id,
      parentSpanId: event.parent ?? trace.parentId,
      traceState: trace.state,
      name,
      kind,
      startMs: at,
      // By the monotonic clock.
      endMs: at + (event.mono - mono),
      // Of this span alone.
      attributes,
      failure,
    }
  }

  #runEnded(event: EventOf<'run.ended'>): Span | undefined {
    const error = errorType(event.outcome, event.error?.code)
    const tool = String(this.#open.get(event.id)?.attributes['gen_ai.tool.name'] ?? 'run_python')
    const failure = error && (event.error?.message ?? 'The result is marked as an error')
    return this.#end(event, `tools/call ${tool}`, 2, error, failure)
  }

  #cellEnded(event: EventOf<'cell.ended'>): Span | undefined {
    const { id, status, raised, stateLost } = event
    const attributes = this.#open.get(id)?.attributes
    if (attributes) {
      attributes['sandbridge.cell.status'] = status
      attributes['sandbridge.state_lost'] = stateLost
    }
    const error = status === 'ok' ? undefined : (raised?.name ?? status)
    return this.#end(event, 'cell', 1, error, error)
  }

  #callEnded(event: EventOf<'call.ended'>): Span | undefined {
    const { id, kind, server, name, outcome, error, result } = event
    const attributes = this.#options.capturesContent ? this.#open.get(id)?.attributes : undefined
    if (attributes) attributes['gen_ai.tool.call.result'] = this.#content(server, result)
    // The address of a resource is not used as a name, since there may be any number of them.
    const title = kind === 'resource' ? METHODS[kind] : `${METHODS[kind]} ${name}`
    const type = errorType(outcome, error?.code)
    return this.#end(event, title, 3, type, type && (error?.message ?? 'The result is marked as an error'))
  }

  #callAttributes(event: EventOf<'call.started'>): OpenAttributes {
    const { kind, server, name, args, client, run } = event
    const attributes = callAttributes(event, this.#options.transports)
    attributes['sandbridge.run.id'] = run
    attributes['mcp.client.name'] = client
    if (kind === 'resource') attributes['mcp.resource.uri'] = this.#options.redact(server, name)
    if (this.#options.capturesContent) attributes['gen_ai.tool.call.arguments'] = this.#content(server, args)
    return attributes
  }

  #content(server: string, value: unknown): string {
    return this.#options.redact(server, JSON.stringify(value) ?? 'null').slice(0, MAX_CONTENT)
  }
}

/** Of a request to a server, for spans and metrics alike. */
export function callAttributes(
  { kind, server, name }: Pick<EventOf<'call.started'>, 'kind' | 'server' | 'name'>,
  transports: SpanOptions['transports'],
): OpenAttributes {
  const { transport, protocolVersion } = transports.get(server) ?? {}
  const isTool = kind === 'tool'
  const isPipe = transport === 'stdio'
  // Made for each call: one literal with the keys of all of them, since several that are spread together take much longer.
  return {
    'mcp.method.name': METHODS[kind],
    'gen_ai.tool.name': isTool ? name : undefined,
    'gen_ai.operation.name': isTool ? 'execute_tool' : undefined,
    'gen_ai.prompt.name': kind === 'prompt' ? name : undefined,
    'mcp.server.name': server,
    'mcp.protocol.version': protocolVersion,
    'network.transport': isPipe ? 'pipe' : 'tcp',
    'network.protocol.name': isPipe ? undefined : 'http',
    'error.type': undefined,
    'sandbridge.run.id': undefined,
    'mcp.client.name': undefined,
  }
}

export function runAttributes(event: EventOf<'run.started'>): OpenAttributes {
  return {
    'mcp.method.name': 'tools/call',
    'gen_ai.tool.name': event.tool,
    'gen_ai.operation.name': 'execute_tool',
    'sandbridge.run.id': event.id,
    'jsonrpc.request.id': event.requestId,
    'mcp.protocol.version': event.protocolVersion,
    'mcp.client.name': event.client,
    ...networkAttributes(event.transport),
  }
}

function cellAttributes({ run, number, session, provider, timeoutMs }: EventOf<'cell.started'>): OpenAttributes {
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

/** `tool_error` where the result says so; else what the error is called. */
export function errorType(outcome: string, code: string | undefined): string | undefined {
  if (outcome === 'ok') return undefined
  if (code === undefined) return 'tool_error'
  return code === 'UPSTREAM_TIMEOUT' ? 'timeout' : code
}
