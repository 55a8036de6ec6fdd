// Encodes OTLP as JSON: the JSON mapping of opentelemetry-proto 1, with hexadecimal ids and 64-bit numbers as strings
// (OTLP 1.5, JSON Protobuf Encoding). Pure.

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string | undefined
  traceState?: string | undefined
  name: string
  /** 1 internal, 2 server, 3 client. */
  kind: 1 | 2 | 3
  /** Milliseconds since 1970. */
  startMs: number
  endMs: number
  /** The span's attributes are the union of these. Spans share objects for attributes they have in common. */
  attributes: readonly Attributes[]
  /** Reason of the failure; missing for success. */
  failure?: string | undefined
}

/** Cumulative values since the start, by attributes. */
interface HistogramPoint {
  attributes: Attributes
  counts: readonly number[]
  count: number
  sum: number
}

interface SumPoint {
  attributes: Attributes
  value: number
}

export interface Metric {
  name: string
  unit: string
  description: string
  histogram?: { bounds: readonly number[]; points: readonly HistogramPoint[] }
  sum?: readonly SumPoint[]
  /** Current values, instead of sums since the start. */
  gauge?: readonly SumPoint[]
}

interface Source {
  resource: Attributes
  version: string
}

/** @returns JSON of an ExportTraceServiceRequest */
export function tracesRequest(spans: readonly Span[], source: Source): string {
  // Built as text: there is a span per call, and most of its attributes repeat those of the span before.
  const known = new Map<Attributes, string>()
  const textOf = (attributes: Attributes): string => {
    const text = known.get(attributes) ?? JSON.stringify(listOf(attributes)).slice(1, -1)
    known.set(attributes, text)
    return text
  }
  const resource = JSON.stringify({ attributes: listOf(source.resource) })
  const pieces = [
    `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${JSON.stringify(scopeOf(source))},"spans":[`,
  ]
  for (const [index, span] of spans.entries()) pieces.push(index === 0 ? '' : ',', spanText(span, textOf))
  pieces.push(']}]}]}')
  return pieces.join('')
}

/** @returns JSON of an ExportMetricsServiceRequest */
export function metricsRequest(metrics: readonly Metric[], source: Source, startMs: number, nowMs: number): string {
  const times = { startTimeUnixNano: nanos(startMs), timeUnixNano: nanos(nowMs) }
  const scopeMetrics = [{ scope: scopeOf(source), metrics: metrics.map((metric) => metricOf(metric, times)) }]
  return JSON.stringify({ resourceMetrics: [{ resource: { attributes: listOf(source.resource) }, scopeMetrics }] })
}

function scopeOf({ version }: Source): unknown {
  return { name: 'sandbridge', version }
}

function spanText(span: Span, textOf: (attributes: Attributes) => string): string {
  const { traceId, spanId, parentSpanId, traceState, name, kind, startMs, endMs, attributes, failure } = span
  const parent = parentSpanId === undefined ? '' : `,"parentSpanId":"${parentSpanId}"`
  const state = traceState === undefined ? '' : `,"traceState":${JSON.stringify(traceState)}`
  const times = `"startTimeUnixNano":"${nanos(startMs)}","endTimeUnixNano":"${nanos(endMs)}"`
  let list = ''
  for (const some of attributes) {
    const text = textOf(some)
    list += list !== '' && text !== '' ? `,${text}` : text
  }
  const status = failure === undefined ? '{}' : `{"code":2,"message":${JSON.stringify(failure)}}`
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}"${parent}${state},"name":${JSON.stringify(name)},` +
    `"kind":${kind},${times},"attributes":[${list}],"status":${status}}`
  )
}

function metricOf({ name, unit, description, histogram, gauge, sum = [] }: Metric, times: object): unknown {
  const about = { name, unit, description }
  /** Cumulative: each export contains everything since the start. */
  const aggregationTemporality = 2
  if (histogram) {
    const dataPoints = histogram.points.map(({ attributes, counts, count, sum: total }) => ({
      attributes: listOf(attributes),
      ...times,
      count: String(count),
      sum: total,
      bucketCounts: counts.map(String),
      explicitBounds: histogram.bounds,
    }))
    return { ...about, histogram: { dataPoints, aggregationTemporality } }
  }
  const dataPoints = (gauge ?? sum).map(({ attributes, value }) => ({
    attributes: listOf(attributes),
    ...times,
    asInt: String(value),
  }))
  return gauge
    ? { ...about, gauge: { dataPoints } }
    : { ...about, sum: { dataPoints, aggregationTemporality, isMonotonic: true } }
}

function listOf(attributes: Attributes): unknown[] {
  const list: unknown[] = []
  for (const key in attributes) {
    const value = attributes[key]
    if (value !== undefined) list.push({ key, value: valueOf(value) })
  }
  return list
}

function valueOf(value: string | number | boolean): unknown {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** Precise to the microsecond, which a number can hold until the year 2255. */
function nanos(ms: number): string {
  return `${Math.round(ms * 1000)}000`
}
