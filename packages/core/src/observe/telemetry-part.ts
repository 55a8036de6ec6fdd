// Metrics and traces, as far as the core knows them.
import type { EventStream } from './events/event-stream.ts'
import type { LazySubscriber } from './events/lazy-subscriber.ts'
import { Part } from '../util/part.ts'

export const telemetry = new Part<TelemetryPart>('telemetry')

export interface TelemetryPart {
  /** Returns the observers that the settings ask for. The Prometheus port is open before the first event. */
  metricsAndTraces: (options: TelemetryOptions) => LazySubscriber[]
}

export interface TelemetryOptions {
  /** Where Prometheus asks for metrics; undefined if it does not. */
  address: { host: string; port: number } | undefined
  /** What Prometheus must show there. */
  token: string | undefined
  /** Has the standard variables of OpenTelemetry. */
  env: Readonly<Record<string, string | undefined>>
  events: EventStream
  redact: (server: string, text: string) => string
  warn: (message: string, fields: Record<string, unknown>) => void
}

/** Names the setting that asks for telemetry; undefined if none does. */
export function asksForTelemetry(
  address: TelemetryOptions['address'],
  env: TelemetryOptions['env'],
): string | undefined {
  if (address) return 'MCP_BRIDGE_METRICS'
  return Object.keys(env).find((name) => OTEL.test(name) && !['', 'none'].includes(env[name]?.trim() ?? ''))
}

const OTEL = /^OTEL_(?:EXPORTER_OTLP_(?:TRACES_|METRICS_)?ENDPOINT|(?:TRACES|METRICS)_EXPORTER)$/
