// Reads OpenTelemetry's standard variables
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/) as far as the bridge needs them
// to decide what it collects. The exporters read the others: headers, timeouts, compression, certificates. Pure.

type Env = Record<string, string | undefined>

interface Destination {
  url: string
  protocol: 'http/json' | 'http/protobuf'
}

/** What the exporters of OpenTelemetry do not read themselves. */
export interface OtelSettings {
  /** Where spans go; missing if they are not sent. */
  traces?: Destination | undefined
  metrics?: Destination | undefined
  sampler: { isParentBased: boolean; ratio: number }
  batchDelayMs: number
  queueSize: number
  metricIntervalMs: number
  /** Also send arguments and results of calls. */
  capturesContent: boolean
  /** Settings that cannot be applied as written, a sentence each. */
  warnings: string[]
}

const DEFAULT_ENDPOINT = 'http://localhost:4318'

/** Returns undefined if nothing is to be sent. */
export function readOtelSettings(env: Env): OtelSettings | undefined {
  const text = (name: string): string => env[name]?.trim() ?? ''
  if (text('OTEL_SDK_DISABLED').toLowerCase() === 'true') return undefined
  const warnings: string[] = []
  const base = text('OTEL_EXPORTER_OTLP_ENDPOINT')
  const destinationOf = (signal: 'traces' | 'metrics'): Destination | undefined => {
    const name = signal.toUpperCase()
    const exporter = text(`OTEL_${name}_EXPORTER`)
    if (exporter === 'none') return undefined
    const own = text(`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`)
    if (exporter !== '' && exporter !== 'otlp') {
      warnings.push(`OTEL_${name}_EXPORTER=${exporter} is not supported. Allowed: otlp, none.`)
      return undefined
    }
    const start = base === '' && exporter === 'otlp' ? DEFAULT_ENDPOINT : base
    const url = own || (start === '' ? '' : `${start.replace(/\/+$/, '')}/v1/${signal}`)
    if (url === '') return undefined
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      warnings.push(`The endpoint for ${signal} is not an http or https address, and nothing is sent there.`)
      return undefined
    }
    const protocol = text(`OTEL_EXPORTER_OTLP_${name}_PROTOCOL`) || text('OTEL_EXPORTER_OTLP_PROTOCOL')
    if (!['', 'http/json', 'http/protobuf'].includes(protocol))
      warnings.push(`The protocol ${protocol} for ${signal} is not supported: http/protobuf is used.`)
    return { url, protocol: protocol === 'http/json' ? protocol : 'http/protobuf' }
  }
  const [traces, metrics] = [destinationOf('traces'), destinationOf('metrics')]
  if (!traces && !metrics && warnings.length === 0) return undefined
  return {
    traces,
    metrics,
    sampler: samplerOf(text('OTEL_TRACES_SAMPLER'), text('OTEL_TRACES_SAMPLER_ARG'), warnings),
    batchDelayMs: positive(text('OTEL_BSP_SCHEDULE_DELAY'), 5_000),
    queueSize: positive(text('OTEL_BSP_MAX_QUEUE_SIZE'), 2_048),
    metricIntervalMs: positive(text('OTEL_METRIC_EXPORT_INTERVAL'), 60_000),
    capturesContent: text('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT').toLowerCase() === 'true',
    warnings,
  }
}

function positive(text: string, otherwise: number): number {
  const number = Number(text)
  return text !== '' && Number.isFinite(number) && number > 0 ? number : otherwise
}

function samplerOf(name: string, argument: string, warnings: string[]): OtelSettings['sampler'] {
  const isParentBased = name === '' || name.startsWith('parentbased_')
  const root = name.replace(/^parentbased_/, '')
  if (root === '' || root === 'always_on') return { isParentBased, ratio: 1 }
  if (root === 'always_off') return { isParentBased, ratio: 0 }
  const ratio = argument === '' ? 1 : Number(argument)
  if (root === 'traceidratio' && ratio >= 0 && ratio <= 1) return { isParentBased, ratio }
  warnings.push(`OTEL_TRACES_SAMPLER=${name} with the argument '${argument}' is not supported: every trace is sampled.`)
  return { isParentBased: true, ratio: 1 }
}
