// An OpenTelemetry collector for tests: accepts OTLP over HTTP as JSON, and checks each request against the names and
// types of opentelemetry-proto 1. The schemas follow the .proto files by the rules of the JSON mapping, and refuse
// unknown fields.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import * as z from 'zod'

/** The JSON mapping allows numbers, too. */
const int64 = z.union([z.string().regex(/^-?\d{1,20}$/), z.int().transform(String)])
const hex = (digits: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`))
const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: int64 }),
  z.strictObject({ doubleValue: z.number() }),
])
// Protobuf has no empty lists.
const attributes = z.array(z.strictObject({ key: z.string().min(1), value })).default([])
const scope = z.strictObject({ name: z.string(), version: z.string() })
const resource = z.strictObject({ attributes, droppedAttributesCount: z.literal(0).optional() })

const span = z.strictObject({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16).optional(),
  traceState: z.string().optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: int64,
  endTimeUnixNano: int64,
  attributes,
  events: z.tuple([]).optional(),
  links: z.tuple([]).optional(),
  droppedAttributesCount: z.literal(0).optional(),
  droppedEventsCount: z.literal(0).optional(),
  droppedLinksCount: z.literal(0).optional(),
  flags: z.int(),
  status: z.strictObject({ code: z.int().min(0).max(2).optional(), message: z.string().optional() }),
})
const point = { attributes, startTimeUnixNano: int64, timeUnixNano: int64 }
const histogram = z.strictObject({
  dataPoints: z.array(
    z
      .strictObject({
        ...point,
        count: int64,
        sum: z.number(),
        bucketCounts: z.array(int64),
        explicitBounds: z.array(z.number()),
      })
      .refine(({ bucketCounts, explicitBounds }) => bucketCounts.length === explicitBounds.length + 1)
      .refine(({ bucketCounts, count }) => bucketCounts.reduce((sum, one) => sum + Number(one), 0) === Number(count)),
  ),
  aggregationTemporality: z.literal(2),
})
const sum = z.strictObject({
  dataPoints: z.array(z.strictObject({ ...point, asInt: int64 })),
  aggregationTemporality: z.literal(2),
  isMonotonic: z.literal(true),
})
const gauge = z.strictObject({ dataPoints: z.array(z.strictObject({ ...point, asInt: int64 })) })
const metric = z.strictObject({
  name: z.string().min(1),
  unit: z.string(),
  description: z.string(),
  histogram: histogram.optional(),
  sum: sum.optional(),
  gauge: gauge.optional(),
})
const traces = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({ resource, scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span) })) }),
  ),
})
const metrics = z.strictObject({
  resourceMetrics: z.array(
    z.strictObject({ resource, scopeMetrics: z.array(z.strictObject({ scope, metrics: z.array(metric) })) }),
  ),
})

type Entry = z.infer<typeof attributes>[number]
type CollectedSpan = Omit<z.infer<typeof span>, 'attributes'> & { attributes: Record<string, unknown> }
export type CollectedMetric = z.infer<typeof metric>

export interface Collector {
  url: string
  spans: CollectedSpan[]
  /** As in the last request. */
  metrics: CollectedMetric[]
  resource: Record<string, unknown>
  headers: IncomingHttpHeaders
  requests: number
  /** Responds instead of accepting what is sent. */
  answer: ((response: ServerResponse) => void) | undefined
}

/** Attributes as a plain object. */
export function plain(list: readonly Entry[]): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value: one }) => [key, Object.values(one)[0]]))
}

interface MessageType {
  decode(bytes: Uint8Array): object
  toObject(message: object, options: object): unknown
}
type Requests = Record<'trace' | 'metrics', { v1: Record<string, MessageType> }>

/** Decodes with the messages that OpenTelemetry generates from its .proto files, to their JSON form. */
function decoded(bytes: Buffer, url: string): unknown {
  const { opentelemetry } = createRequire(import.meta.url)('opentelemetry-messages/build/src/generated/root') as {
    opentelemetry: { proto: { collector: Requests } }
  }
  const { trace, metrics: measured } = opentelemetry.proto.collector
  const type = url.endsWith('traces')
    ? trace.v1['ExportTraceServiceRequest']!
    : measured.v1['ExportMetricsServiceRequest']!
  const plainForm = type.toObject(type.decode(bytes), { longs: String, bytes: String })
  const text = JSON.stringify(plainForm).replaceAll(
    /"(traceId|spanId|parentSpanId)":"([^"]+)"/g,
    (_, name: string, base64: string) => `"${name}":"${Buffer.from(base64, 'base64').toString('hex')}"`,
  )
  return JSON.parse(text)
}

/** @param port 0: any */
export async function startCollector(port = 0): Promise<Collector> {
  const collector: Collector = {
    url: '',
    spans: [],
    metrics: [],
    resource: {},
    headers: {},
    requests: 0,
    answer: undefined,
  }
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      collector.requests += 1
      collector.headers = request.headers
      const isBinary = request.headers['content-type'] === 'application/x-protobuf'
      const body = isBinary ? decoded(bytes, request.url ?? '') : (JSON.parse(bytes.toString()) as unknown)
      if (collector.answer) return collector.answer(response)
      if (request.url === '/v1/traces') {
        for (const { resource: about, scopeSpans } of traces.parse(body).resourceSpans) {
          collector.resource = plain(about.attributes)
          for (const one of scopeSpans.flatMap(({ spans }) => spans))
            collector.spans.push({ ...one, attributes: plain(one.attributes) })
        }
      } else if (request.url === '/v1/metrics') {
        collector.metrics = metrics
          .parse(body)
          .resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics))
      } else throw new Error(`nobody listens at ${request.url}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      return undefined
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return collector
}
