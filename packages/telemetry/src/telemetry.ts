// Sends spans and metrics to an OpenTelemetry collector: an observer, configured by the standard OTEL_* variables.
// Spans wait here until the collector has taken them, within a limit.
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Subscriber } from '@sandbridge/core/observe/events'
import type { Told } from '@sandbridge/core/observe/runs'
import { withTimeout } from '@sandbridge/core/util/async'
import { metricExporter, spanExporter, Translation } from './exporters.ts'
import type { Metrics } from './metrics.ts'
import type { OtelSettings } from './otel-settings.ts'
import { type Span, Spans } from './spans.ts'

interface TelemetryOptions {
  otel: OtelSettings
  /** A separate observer, because others read it, too. */
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
  readonly #spans: Spans
  readonly #translation: Translation
  readonly #traced: Promise<SpanExporter> | undefined
  #queue: Span[] = []
  #sending: Promise<void> | undefined
  /** The last batch was not taken, so the next one waits for the timer. */
  #isAway = false
  #isClosed = false
  readonly #timers: NodeJS.Timeout[] = []
  #hasWarned = false

  constructor(options: TelemetryOptions) {
    const { otel, metrics, redact, version } = options
    this.#options = options
    this.#spans = new Spans({ capturesContent: otel.capturesContent, redact, transports: metrics.transports })
    this.#translation = new Translation(version)
    for (const warning of otel.warnings) options.warn(warning, {})
    const measured = otel.metrics && metricExporter(otel.metrics)
    if (measured) this.#every(otel.metricIntervalMs, () => this.#sendMetrics(measured))
    const traced = otel.traces && spanExporter(otel.traces)
    if (traced) this.#every(otel.batchDelayMs, () => this.#sendSpans(traced))
    this.#traced = traced
  }

  receive(told: readonly Told[]): void {
    const traced = this.#traced
    if (!traced) return
    for (const one of told) {
      const span = this.#spans.take(one)
      if (!span) continue
      if (this.#queue.length < this.#options.otel.queueSize) this.#queue.push(span)
      else this.#dropped(1, 'the queue is full')
    }
    if (this.#queue.length >= MAX_BATCH && !this.#isAway) void this.#sendSpans(traced)
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    const { traces, metrics } = this.#options.otel
    // These end in time by themselves, so that no request of theirs holds the process.
    const lastSpans = async (): Promise<void> => {
      await this.#sending
      if (traces) await this.#sendSpans(spanExporter(traces, CLOSE_MS))
    }
    const lastMetrics = metrics && this.#sendMetrics(metricExporter(metrics, CLOSE_MS))
    await withTimeout(Promise.all([lastSpans(), lastMetrics ?? Promise.resolve()]), CLOSE_MS, () => undefined)
    this.#isClosed = true
  }

  #every(ms: number, work: () => Promise<unknown>): void {
    this.#timers.push(setInterval(() => void work(), ms).unref())
  }

  /** Sends one request at a time; concurrent callers share it. */
  #sendSpans(exporter: Promise<SpanExporter>): Promise<void> {
    this.#sending ??= this.#sendQueue(exporter).finally(() => (this.#sending = undefined))
    return this.#sending
  }

  async #sendQueue(exporter: Promise<SpanExporter>): Promise<void> {
    while (this.#queue.length > 0 && !this.#isClosed) {
      const batch = this.#queue.slice(0, MAX_BATCH)
      const sent = await this.#translation.send(await exporter, batch)
      this.#isAway = sent.how === 'later'
      if (this.#isAway) return
      if (sent.how === 'refused') this.#dropped(batch.length, sent.reason)
      this.#queue.splice(0, batch.length)
    }
  }

  /** Cumulative, so the next request includes what this one failed to deliver. */
  async #sendMetrics(exporter: Promise<PushMetricExporter>): Promise<void> {
    const { metrics } = this.#options
    await this.#translation.sendMetrics(await exporter, metrics.read(), metrics.startedAt)
  }

  #dropped(count: number, reason: string): void {
    this.#options.metrics.add('sandbridge.telemetry.dropped', count)
    if (!this.#hasWarned) this.#options.warn('Spans were dropped', { reason })
    this.#hasWarned = true
  }
}
