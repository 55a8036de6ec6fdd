// Observers of packages, as far as the core knows them: the audit log, the count of costs, metrics and traces.
import type { EventStream, Subscriber } from './events/event-stream.ts'
import type { LazySubscriber } from './events/lazy-subscriber.ts'
import type { Store, Logs } from '../util/stores/store.ts'
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

/** Without it, costs are not counted. */
export const dailyCosts = new Part<{ createCostCounter: (options: CostsOptions) => Subscriber }>('the count of costs')

export interface CostsOptions {
  /** Returns the current tokens in the definitions of all tools. */
  listedTokens: () => Promise<number>
  /** Has the costs. */
  store: Store
  onError: (error: unknown) => void
}

export const record = new Part<RecordPart>('the audit log')

interface RecordPart {
  Audit: new (options: RecordOptions) => Subscriber
  /** Returns the record's logs within the state of the bridge's owner. */
  recordIn: (store: Store) => Logs
}

export interface RecordOptions {
  logs: Logs
  /** Refuse a call that cannot be recorded. */
  required: boolean
  version: string
  /** Record arguments, error messages and questions in full, instead of only their shape. */
  full: boolean
  /** Also record code and replies, so that a run can become a workflow. */
  replay: boolean
  redact: (server: string, text: string) => string
  /** Called when writing begins to fail, and without an error when it works again. */
  onFailing: (error?: unknown) => void
}
