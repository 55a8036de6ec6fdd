// W3C Trace Context as MCP carries it, in `params._meta` (SEP-414): read from a client's request, and written for a server's. Pure.

/** The trace that a run belongs to. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** The client's span; missing where the trace begins with the run. */
  parentId?: string | undefined
  sampled: boolean
  state?: string | undefined
  baggage?: string | undefined
  /** We send spans of our own: what is called goes on from those. Otherwise it goes on from the client's. */
  isExported?: boolean | undefined
}

/** The fields of `params._meta`. */
export type TraceMeta = Readonly<Partial<Record<'traceparent' | 'tracestate' | 'baggage', string>>>

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
/** W3C Trace Context section 3.3.1.5, W3C Baggage section 3.3. */
const MAX_STATE_CHARS = 512
const MAX_BAGGAGE_CHARS = 8192
const PRINTABLE = /^[\x20-\x7e]*$/

/** What a client sends along; undefined when that is nothing, or is not valid. */
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

/** The trace that is sent to a server; undefined without one. @param callId the id of the span of the call, where the bridge sends spans */
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
