// Metrics for Prometheus (text format 0.0.4) on a port of its own; one that others can reach needs a token.
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Subscriber } from '@sandbridge/core/observe/events'
import type { Told } from '@sandbridge/core/observe/runs'
import { listen } from '@sandbridge/core/util/net'
import type { Metric, Metrics } from './metrics.ts'
import type { Attributes } from './spans.ts'

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function prometheusText(metrics: readonly Metric[]): string {
  return metrics
    .flatMap(linesOf)
    .map((line) => `${line}\n`)
    .join('')
}

function linesOf({ name, unit, description, histogram, gauge, sum = [] }: Metric): string[] {
  const kind = histogram ? 'histogram' : gauge ? 'gauge' : 'counter'
  const base = prometheusName(name, unit, kind)
  const head = [`# HELP ${base} ${description}`, `# TYPE ${base} ${kind}`]
  if (!histogram)
    return [...head, ...(gauge ?? sum).map(({ attributes, value }) => `${base}${labels(attributes)} ${value}`)]
  const points = histogram.points.flatMap(({ attributes, counts, count, sum: total }) => {
    let below = 0
    const buckets = [...histogram.bounds, Infinity].map((bound, index) => {
      below += counts[index] ?? 0
      return `${base}_bucket${labels({ ...attributes, le: bound === Infinity ? '+Inf' : String(bound) })} ${below}`
    })
    return [...buckets, `${base}_sum${labels(attributes)} ${total}`, `${base}_count${labels(attributes)} ${count}`]
  })
  return [...head, ...points]
}

/**
 * Returns the name that OpenTelemetry's collector uses: `mcp_client_operation_duration_seconds`,
 * `sandbridge_call_denied_total`.
 */
function prometheusName(name: string, unit: string, kind: 'histogram' | 'gauge' | 'counter'): string {
  const plain = name.replaceAll('.', '_')
  if (kind === 'counter') return `${plain}_total`
  return unit === 's' ? `${plain}_seconds` : plain
}

function labels(attributes: Attributes): string {
  const pairs = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : `${name.replaceAll('.', '_')}="${escaped(String(value))}"`,
  )
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** An observer that Prometheus scrapes. */
export class PrometheusPort implements Subscriber {
  readonly name = 'metrics'
  readonly #metrics: Metrics
  readonly #catchUp: () => void
  #server: Server | undefined

  /** @param catchUp delivers waiting events, so that a scrape counts everything that has happened */
  constructor(metrics: Metrics, catchUp: () => void) {
    this.#metrics = metrics
    this.#catchUp = catchUp
  }

  receive(told: readonly Told[]): void {
    this.#metrics.receive(told)
  }

  /** @returns the port. @throws what node:net throws, such as EADDRINUSE */
  async listen({ host, port, token }: { host: string; port: number; token?: string | undefined }): Promise<number> {
    const server = createServer((request, response) => {
      const refusal = token === undefined ? refuseForeignName(request) : refuseWithoutToken(request, token)
      const status = refusal ?? (request.url?.split('?')[0] === '/metrics' ? 200 : 404)
      response.writeHead(status, {
        'content-type': CONTENT_TYPE,
        ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      })
      if (status === 200) this.#catchUp()
      response.end(status === 200 ? prometheusText(this.#metrics.read()) : '')
    })
    server.unref()
    await listen(server, { port, host })
    this.#server = server
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : port
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections()
    this.#server?.close()
  }
}

/** Rejects foreign host names: a web page could let its own name resolve to this address (DNS rebinding). */
function refuseForeignName({ headers }: IncomingMessage): 403 | undefined {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers.host ?? '') ? undefined : 403
}

function refuseWithoutToken({ headers }: IncomingMessage, token: string): 401 | undefined {
  const [, shown = ''] = /^bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
  return timingSafeEqual(digest(shown), digest(token)) ? undefined : 401
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
