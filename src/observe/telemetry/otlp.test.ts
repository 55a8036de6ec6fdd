// This file verifies our requests against OpenTelemetry's published opentelemetry-proto messages: no field is lost or
// misnamed.
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { metricsRequest, type Metric, type Span, tracesRequest } from './otlp.ts'
import { protobufOf } from './otlp-protobuf.ts'

interface MessageType {
  decode(bytes: Uint8Array): object
  fromObject(value: object): object
  toObject(message: object, options: object): unknown
}
// Generated from the .proto files by OpenTelemetry; the package has no types for it.
const { opentelemetry } = createRequire(import.meta.url)(
  '@opentelemetry/otlp-transformer/build/src/generated/root',
) as {
  opentelemetry: {
    proto: {
      collector: {
        trace: { v1: { ExportTraceServiceRequest: MessageType } }
        metrics: { v1: { ExportMetricsServiceRequest: MessageType } }
      }
    }
  }
}
const Traces = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest
const MetricsType = opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest

const source = { resource: { 'service.name': 'sandbridge', 'service.version': '1' }, version: '1' }
const spans: Span[] = [
  {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: 'f0f067aa0ba902b7',
    parentSpanId: '00f067aa0ba902b7',
    traceState: 'k=v',
    name: 'tools/call größe',
    kind: 3,
    startMs: 1_795_000_000_000.25,
    endMs: 1_795_000_000_001.5,
    attributes: [
      { text: 'ü', empty: '', yes: true, no: false },
      {},
      { whole: -5, large: 2 ** 45, zero: 0, part: 0.25 },
    ],
    failure: 'It failed',
  },
  { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'cell', kind: 1, startMs: 1, endMs: 2, attributes: [] },
]
const metrics: Metric[] = [
  {
    name: 'h',
    unit: 's',
    description: 'd',
    histogram: { bounds: [0.01, 1], points: [{ attributes: { a: 'b' }, counts: [1, 0, 300], count: 301, sum: 2.5 }] },
  },
  { name: 'c', unit: '{call}', description: 'd', sum: [{ attributes: {}, value: 12 }] },
  { name: 'g', unit: '{session}', description: 'd', gauge: [{ attributes: { a: 1 }, value: 3 }] },
]

const plain = { longs: String, bytes: String, arrays: false, objects: false }
/** Decodes our JSON with OpenTelemetry's code. It expects ids in base64, ours are hexadecimal. */
function throughSchema(type: MessageType, request: string): unknown {
  const text = request.replaceAll(
    /"(traceId|spanId|parentSpanId)":"([0-9a-f]+)"/g,
    (_, name: string, hex: string) => `"${name}":"${Buffer.from(hex, 'hex').toString('base64')}"`,
  )
  // Empty lists do not appear on the wire.
  const read = JSON.parse(text, (_, value: unknown) =>
    Array.isArray(value) && value.length === 0 ? undefined : value,
  ) as object
  const known = type.toObject(type.fromObject(read), plain)
  // Decoding drops unknown names.
  expect(known).toEqual(read)
  return known
}

describe('requests to a collector', () => {
  it.each([
    ['spans', Traces, tracesRequest(spans, source)],
    ['metrics', MetricsType, metricsRequest(metrics, source, 1_000, 2_000)],
  ] as const)('requests to a collector of %s hold the messages as JSON and nothing else', (_, type, request) => {
    throughSchema(type, request)
  })

  it.each([
    ['spans', Traces, tracesRequest(spans, source)],
    ['metrics', MetricsType, metricsRequest(metrics, source, 1_000, 2_000)],
  ] as const)('requests to a collector of %s say the same in protobuf as in JSON', (_, type, request) => {
    expect(type.toObject(type.decode(protobufOf(JSON.parse(request))), plain)).toEqual(throughSchema(type, request))
  })

  it('spans in requests to a collector have the time to the microsecond', () => {
    const text = tracesRequest(spans, source)
    expect(text).toContain('"startTimeUnixNano":"1795000000000250000","endTimeUnixNano":"1795000000001500000"')
  })

  it('requests to a collector leave out no field without a number in protobuf', () => {
    expect(() => protobufOf({ resourceSpans: [{ new: 1 }] })).toThrow("no field 'new'")
  })
})
