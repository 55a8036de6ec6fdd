// Reads OpenTelemetry's standard variables
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/), where they apply. Pure.

type Env = Record<string, string | undefined>

export interface OtelSettings {
  /** URL for spans; missing if spans are not sent. */
  tracesUrl?: string | undefined
  metricsUrl?: string | undefined
  headers: Record<string, string>
  protocol: 'http/json' | 'http/protobuf'
  timeoutMs: number
  /** Resource attributes of everything that is sent. */
  resource: Record<string, string>
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
export function readOtelSettings(env: Env, version: string): OtelSettings | undefined {
  const text = (name: string): string => env[name]?.trim() ?? ''
  if (text('OTEL_SDK_DISABLED').toLowerCase() === 'true') return undefined
  const warnings: string[] = []
  const base = text('OTEL_EXPORTER_OTLP_ENDPOINT')
  const urlOf = (signal: 'traces' | 'metrics'): string | undefined => {
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
    if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
    warnings.push(`The endpoint for ${signal} is not an http or https address, and nothing is sent there.`)
    return undefined
  }
  const tracesUrl = urlOf('traces')
  const metricsUrl = urlOf('metrics')
  if (tracesUrl === undefined && metricsUrl === undefined && warnings.length === 0) return undefined
  const protocol = text('OTEL_EXPORTER_OTLP_PROTOCOL')
  if (!['', 'http/json', 'http/protobuf'].includes(protocol)) {
    warnings.push(`OTEL_EXPORTER_OTLP_PROTOCOL=${protocol} is not supported: JSON over HTTP is sent (http/json).`)
  }
  return {
    tracesUrl,
    metricsUrl,
    headers: pairs(text('OTEL_EXPORTER_OTLP_HEADERS')),
    protocol: protocol === 'http/protobuf' ? protocol : 'http/json',
    timeoutMs: positive(text('OTEL_EXPORTER_OTLP_TIMEOUT'), 10_000),
    resource: {
      ...pairs(text('OTEL_RESOURCE_ATTRIBUTES')),
      'service.name':
        text('OTEL_SERVICE_NAME') || (pairs(text('OTEL_RESOURCE_ATTRIBUTES'))['service.name'] ?? 'sandbridge'),
      'service.version': version,
    },
    sampler: samplerOf(text('OTEL_TRACES_SAMPLER'), text('OTEL_TRACES_SAMPLER_ARG'), warnings),
    batchDelayMs: positive(text('OTEL_BSP_SCHEDULE_DELAY'), 5_000),
    queueSize: positive(text('OTEL_BSP_MAX_QUEUE_SIZE'), 2_048),
    metricIntervalMs: positive(text('OTEL_METRIC_EXPORT_INTERVAL'), 60_000),
    capturesContent: text('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT').toLowerCase() === 'true',
    warnings,
  }
}

/** Parses `a=1,b=2` with percent-encoded values, as in W3C Baggage. */
function pairs(text: string): Record<string, string> {
  const entries = text.split(',').flatMap((pair): [string, string][] => {
    const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
    return key === undefined || value === undefined ? [] : [[key, decoded(value)]]
  })
  return Object.fromEntries(entries)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
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
