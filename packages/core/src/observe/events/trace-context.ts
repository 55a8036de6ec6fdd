// W3C Trace Context in MCP's `params._meta` (SEP-414), from a client's request to a server's. Pure.

export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** Id of the client's span; missing if the trace begins with the run. */
  parentId?: string | undefined
  sampled: boolean
  state?: string | undefined
  baggage?: string | undefined
  /** The bridge exports spans, so a server's parent span is ours. Otherwise it is the client's. */
  isExported?: boolean | undefined
}

/** The trace fields of `params._meta`. */
export type TraceMeta = Readonly<Partial<Record<'traceparent' | 'tracestate' | 'baggage', string>>>

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
/** W3C Trace Context section 3.3.1.5, W3C Baggage section 3.3. */
const MAX_STATE_CHARS = 512
const MAX_BAGGAGE_CHARS = 8192
const PRINTABLE = /^[\x20-\x7e]*$/

/** Reads a client's trace; undefined if it is missing or invalid. */
export function readTraceContext(meta: Readonly<Record<string, unknown>> | undefined): TraceContext | undefined {
  const { traceparent, tracestate, baggage } = meta ?? {}
  const parts = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null
  if (!parts) return undefined
  const [, version, traceId, parentId, flags, rest] = parts
  if (/^0+$/.test(traceId!) || /^0+$/.test(parentId!) || (version === '00' && rest !== undefined)) return undefined
  return {
    traceId: traceId!,
    parentId: parentId!,
    sampled: (Number.parseInt(flags!, 16) & 1) === 1,
    ...(isShort(tracestate, MAX_STATE_CHARS) && { state: tracestate }),
    ...(isShort(baggage, MAX_BAGGAGE_CHARS) && { baggage }),
  }
}

/** The trace fields for a server; undefined without a trace. @param callId id of the call's span, if exported */
export function traceMeta(trace: TraceContext | undefined, callId: string): TraceMeta | undefined {
  const spanId = trace?.isExported ? callId : trace?.parentId
  if (!trace || spanId === undefined) return undefined
  const { traceId, sampled, state, baggage } = trace
  return {
    traceparent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`,
    ...(state !== undefined && { tracestate: state }),
    ...(baggage !== undefined && { baggage }),
  }
}

function isShort(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max && PRINTABLE.test(value)
}
