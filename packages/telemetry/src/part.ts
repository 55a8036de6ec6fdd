// What the core uses of telemetry: observers whose code is loaded at the first event that they need.
import { VERSION } from '@sandbridge/core/util'
import { LazySubscriber, type Subscriber } from '@sandbridge/core/observe/events'
import type { TelemetryOptions } from '@sandbridge/core/parts'
import type { Metrics } from './metrics.ts'
import { readOtelSettings } from './otel-settings.ts'
import { startTrace } from './start-trace.ts'

/** A collector and Prometheus share one set of counters. The Prometheus port is open before the first event. */
export function metricsAndTraces(options: TelemetryOptions): LazySubscriber[] {
  const { address, token, events, warn } = options
  const otel = readOtelSettings(options.env)
  if (!address && !otel) return []
  const wakes = ['session.ended', 'run.started', 'cell.started'] as const
  let counting: Promise<Metrics> | undefined
  const counted = (): Promise<Metrics> => {
    counting ??= import('./metrics.ts').then(({ Metrics }) => new Metrics())
    return counting
  }
  const servePrometheus = async (
    metrics: Metrics,
    { host, port }: { host: string; port: number },
  ): Promise<Subscriber> => {
    const { PrometheusPort } = await import('./prometheus.ts')
    const opened = new PrometheusPort(metrics, () => events.flush())
    try {
      await opened.listen({ host, port, token })
      return opened
    } catch (error) {
      warn('The address of MCP_BRIDGE_METRICS cannot be listened on', { error })
      return metrics
    }
  }
  const metrics = new LazySubscriber({
    name: 'metrics',
    guards: false,
    wakes,
    onError: (error) => warn('Metrics cannot be counted', { error }),
    load: async () => (address ? servePrometheus(await counted(), address) : counted()),
  })
  if (address) metrics.start()
  if (!otel) return [metrics]
  if (otel.traces) events.startTrace = (ofClient) => startTrace(otel.sampler, ofClient)
  const sender = new LazySubscriber({
    name: 'telemetry',
    guards: false,
    wakes,
    onError: (error) => warn('Traces and metrics cannot be sent', { error }),
    load: async () => {
      const { Telemetry } = await import('./telemetry.ts')
      return new Telemetry({
        otel,
        metrics: await counted(),
        version: VERSION,
        redact: options.redact,
        warn,
      })
    },
  })
  return [metrics, sender]
}
