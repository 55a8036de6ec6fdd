// Sends spans and metrics to an OpenTelemetry collector: an observer, configured by the standard OTEL_* variables.
import type { BridgeEvent } from '../events/event.ts'
import type { Subscriber } from '../events/event-stream.ts'
import { Exporter } from './exporter.ts'
import type { Metrics } from './metrics.ts'
import type { OtelSettings } from './otel-settings.ts'
import { metricsRequest, type Span, tracesRequest } from './otlp.ts'
import { Spans } from './spans.ts'

interface TelemetryOptions {
  otel: OtelSettings
  /** A separate observer that others read, too. */
  metrics: Metrics
  version: string
  redact: (server: string, text: string) => string
  warn: (message: string, fields: Record<string, unknown>) => void
}

const MAX_BATCH = 512
/** The bridge must end within 2.5 s, whatever the collector does. */
const CLOSE_MS = 1_000

export class Telemetry implements Subscriber {
  readonly name = 'telemetry'
  readonly #options: TelemetryOptions
  readonly #metrics: Metrics
  readonly #spans: Spans
  readonly #traceExporter: Exporter | undefined
  readonly #metricExporter: Exporter | undefined
  #queue: Span[] = []
  #sending: Promise<void> | undefined
  readonly #timers: NodeJS.Timeout[] = []
  readonly #over = new AbortController()
  #isClosing = false
  #hasWarned = false

  constructor(options: TelemetryOptions) {
    const { otel, metrics, redact } = options
    this.#options = options
    this.#metrics = metrics
    const { capturesContent } = otel
    this.#spans = new Spans({ capturesContent, redact, transports: metrics.transports })
    this.#traceExporter = this.#exporter(otel.tracesUrl)
    this.#metricExporter = this.#exporter(otel.metricsUrl)
    for (const warning of otel.warnings) options.warn(warning, {})
    if (this.#traceExporter) this.#every(otel.batchDelayMs, () => void this.#sendSpans())
    if (this.#metricExporter) this.#every(otel.metricIntervalMs, () => void this.#sendMetrics())
  }

  receive(events: readonly BridgeEvent[]): void {
    if (!this.#traceExporter) return
    for (const event of events) {
      const span = this.#spans.take(event)
      if (!span) continue
      if (this.#queue.length < this.#options.otel.queueSize) this.#queue.push(span)
      else this.#dropped(1, 'the queue is full')
    }
    if (this.#queue.length >= MAX_BATCH) void this.#sendSpans()
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#isClosing = true
    // Also aborts a request in progress.
    const limit = setTimeout(() => this.#over.abort(), CLOSE_MS)
    await Promise.all([this.#sending?.then(() => this.#sendSpans()) ?? this.#sendSpans(), this.#sendMetrics()])
    clearTimeout(limit)
  }

  #exporter(url: string | undefined): Exporter | undefined {
    const { headers, protocol, timeoutMs } = this.#options.otel
    const onDropped = (count: number, reason: string) => this.#dropped(count, reason)
    return url === undefined ? undefined : new Exporter({ url, headers, protocol, timeoutMs, onDropped })
  }

  #every(ms: number, work: () => void): void {
    this.#timers.push(setInterval(work, ms).unref())
  }

  /** Sends one request at a time; concurrent callers share it. */
  #sendSpans(): Promise<void> {
    this.#sending ??= this.#sendQueue().finally(() => (this.#sending = undefined))
    return this.#sending
  }

  async #sendQueue(): Promise<void> {
    const exporter = this.#traceExporter
    if (!exporter) return
    while (this.#queue.length > 0 && this.#mayAsk(exporter)) {
      const batch = this.#queue.slice(0, MAX_BATCH)
      const isDone = await exporter.send(tracesRequest(batch, this.#source), batch.length, this.#over.signal)
      if (!isDone) return
      this.#queue.splice(0, batch.length)
    }
  }

  async #sendMetrics(): Promise<void> {
    const metrics = this.#metrics.read()
    const exporter = this.#metricExporter
    if (!exporter || metrics.length === 0 || !this.#mayAsk(exporter)) return
    const request = metricsRequest(metrics, this.#source, this.#metrics.startedAt, Date.now())
    // Cumulative, so the next request includes what this one failed to deliver.
    await exporter.send(request, 0, this.#over.signal)
  }

  /** A back-off does not delay the shutdown. */
  #mayAsk(exporter: Exporter): boolean {
    return !this.#over.signal.aborted && (this.#isClosing || !exporter.isPaused)
  }

  get #source(): { resource: OtelSettings['resource']; version: string } {
    const { otel, version } = this.#options
    return { resource: otel.resource, version }
  }

  #dropped(count: number, reason: string): void {
    if (count === 0) return
    this.#metrics.add('sandbridge.telemetry.dropped', count)
    if (!this.#hasWarned) this.#options.warn('Spans were dropped', { reason })
    this.#hasWarned = true
  }
}
