// Sends spans and metrics with OpenTelemetry's exporters, which read their own OTEL_* variables.
import { createTraceState, type HrTime, SpanKind, SpanStatusCode, TraceFlags, ValueType } from '@opentelemetry/api'
import { ExportResultCode, millisToHrTime, type ExportResult } from '@opentelemetry/core'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import type { Metric } from './metrics.ts'
import type { OtelSettings } from './otel-settings.ts'
import type { Attributes, Span } from './spans.ts'

/** `later`: the collector is away or busy, and may take them another time. */
export type Sent = { how: 'accepted' | 'later' } | { how: 'refused'; reason: string }

type Destination = NonNullable<OtelSettings['traces']>

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT }

/** @param timeoutMillis overrides OTEL_EXPORTER_OTLP_TIMEOUT */
export async function spanExporter({ url, protocol }: Destination, timeoutMillis?: number): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter({ url, ...(timeoutMillis !== undefined && { timeoutMillis }) })
}

/** @param timeoutMillis overrides OTEL_EXPORTER_OTLP_TIMEOUT */
export async function metricExporter(
  { url, protocol }: Destination,
  timeoutMillis?: number,
): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-metrics-otlp-http')
      : await import('@opentelemetry/exporter-metrics-otlp-proto')
  return new OTLPMetricExporter({ url, ...(timeoutMillis !== undefined && { timeoutMillis }) })
}

/** Translates our spans and metrics for the exporters. */
export class Translation {
  readonly #scope: { name: string; version: string }
  readonly #resource: ReturnType<typeof resourceFromAttributes>

  constructor(version: string) {
    this.#scope = { name: 'sandbridge', version }
    this.#resource = resourceFromAttributes({ 'service.name': 'sandbridge' })
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(resourceFromAttributes({ 'service.version': version }))
  }

  send(exporter: SpanExporter, spans: readonly Span[]): Promise<Sent> {
    const translated = spans.map((span) => this.#span(span))
    return new Promise((resolve) => exporter.export(translated, (result) => resolve(sent(result))))
  }

  sendMetrics(exporter: PushMetricExporter, metrics: readonly Metric[], startMs: number): Promise<Sent> {
    const times = { startTime: millisToHrTime(startMs), endTime: millisToHrTime(Date.now()) }
    const data = {
      resource: this.#resource,
      scopeMetrics: [{ scope: this.#scope, metrics: metrics.map((metric) => metricData(metric, times)) }],
    }
    return new Promise((resolve) => exporter.export(data, (result) => resolve(sent(result))))
  }

  #span({ trace, id, parentId, name, kind, startMs, endMs, attributes, failure }: Span): ReadableSpan {
    const { traceId, state } = trace
    const context = { traceId, traceFlags: TraceFlags.SAMPLED, ...(state && { traceState: createTraceState(state) }) }
    return {
      name,
      kind: KINDS[kind],
      spanContext: () => ({ ...context, spanId: id }),
      ...(parentId !== undefined && {
        parentSpanContext: { ...context, spanId: parentId, isRemote: kind === 'server' },
      }),
      startTime: millisToHrTime(startMs),
      endTime: millisToHrTime(endMs),
      duration: millisToHrTime(endMs - startMs),
      ended: true,
      status: failure === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: failure },
      attributes: present(...attributes),
      resource: this.#resource,
      instrumentationScope: this.#scope,
      ...NOTHING_MORE,
    }
  }
}

const NOTHING_MORE = { links: [], events: [], droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 }

function metricData(metric: Metric, times: { startTime: HrTime; endTime: HrTime }): MetricData {
  const { name, unit, description, histogram, gauge, sum = [] } = metric
  const aggregationTemporality = AggregationTemporality.CUMULATIVE
  const about = (valueType: ValueType) => ({
    descriptor: { name, unit, description, valueType },
    aggregationTemporality,
  })
  if (histogram) {
    const dataPoints = histogram.points.map(({ attributes, counts, count, sum: total }) => ({
      ...times,
      attributes: present(attributes),
      value: { buckets: { boundaries: [...histogram.bounds], counts }, count, sum: total },
    }))
    return { ...about(ValueType.DOUBLE), dataPointType: DataPointType.HISTOGRAM, dataPoints }
  }
  const dataPoints = (gauge ?? sum).map(({ attributes, value }) => ({
    ...times,
    attributes: present(attributes),
    value,
  }))
  return gauge
    ? { ...about(ValueType.INT), dataPointType: DataPointType.GAUGE, dataPoints }
    : { ...about(ValueType.INT), dataPointType: DataPointType.SUM, dataPoints, isMonotonic: true }
}

/** The exporters would send an attribute without a value. */
function present(...several: readonly Attributes[]): Record<string, string | number | boolean> {
  const all: Record<string, string | number | boolean> = {}
  for (const attributes of several)
    for (const key in attributes) if (attributes[key] !== undefined) all[key] = attributes[key]
  return all
}

/** Only an answer of the collector that it will repeat has a status for a code. */
function sent({ code, error }: ExportResult): Sent {
  if (code === ExportResultCode.SUCCESS) return { how: 'accepted' }
  const status: unknown = error && 'code' in error ? error.code : undefined
  return typeof status === 'number' ? { how: 'refused', reason: `the collector answered ${status}` } : { how: 'later' }
}
