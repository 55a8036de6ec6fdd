// Encodes OTLP requests as binary protobuf (OTLP/HTTP, Binary Protobuf Encoding), with the field numbers of
// opentelemetry-proto 1. Pure.

/** `hex`: a hexadecimal string in JSON, bytes here. 64-bit numbers are strings in JSON. */
type Scalar = 'text' | 'hex' | 'bool' | 'varint' | 'fixed64' | 'double'
type Field = readonly [number: number, kind: Scalar | Message]
interface Message {
  readonly [name: string]: Field
}

const ANY_VALUE: Message = {
  stringValue: [1, 'text'],
  boolValue: [2, 'bool'],
  intValue: [3, 'varint'],
  doubleValue: [4, 'double'],
}
const KEY_VALUE: Message = { key: [1, 'text'], value: [2, ANY_VALUE] }
const RESOURCE: Message = { attributes: [1, KEY_VALUE] }
const SCOPE: Message = { name: [1, 'text'], version: [2, 'text'] }
const STATUS: Message = { message: [2, 'text'], code: [3, 'varint'] }
const SPAN: Message = {
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  traceState: [3, 'text'],
  parentSpanId: [4, 'hex'],
  name: [5, 'text'],
  kind: [6, 'varint'],
  startTimeUnixNano: [7, 'fixed64'],
  endTimeUnixNano: [8, 'fixed64'],
  attributes: [9, KEY_VALUE],
  status: [15, STATUS],
}
const NUMBER_POINT: Message = {
  startTimeUnixNano: [2, 'fixed64'],
  timeUnixNano: [3, 'fixed64'],
  asInt: [6, 'fixed64'],
  attributes: [7, KEY_VALUE],
}
const HISTOGRAM_POINT: Message = {
  startTimeUnixNano: [2, 'fixed64'],
  timeUnixNano: [3, 'fixed64'],
  count: [4, 'fixed64'],
  sum: [5, 'double'],
  bucketCounts: [6, 'fixed64'],
  explicitBounds: [7, 'double'],
  attributes: [9, KEY_VALUE],
}
const GAUGE: Message = { dataPoints: [1, NUMBER_POINT] }
const SUM: Message = { dataPoints: [1, NUMBER_POINT], aggregationTemporality: [2, 'varint'], isMonotonic: [3, 'bool'] }
const HISTOGRAM: Message = { dataPoints: [1, HISTOGRAM_POINT], aggregationTemporality: [2, 'varint'] }
const METRIC: Message = {
  name: [1, 'text'],
  description: [2, 'text'],
  unit: [3, 'text'],
  gauge: [5, GAUGE],
  sum: [7, SUM],
  histogram: [9, HISTOGRAM],
}

/** ExportTraceServiceRequest and ExportMetricsServiceRequest: the only field of each has the same number. */
const REQUEST: Message = {
  resourceSpans: [1, { resource: [1, RESOURCE], scopeSpans: [2, { scope: [1, SCOPE], spans: [2, SPAN] }] }],
  resourceMetrics: [1, { resource: [1, RESOURCE], scopeMetrics: [2, { scope: [1, SCOPE], metrics: [2, METRIC] }] }],
}

/** @param request parsed JSON of `tracesRequest` or `metricsRequest` */
export function protobufOf(request: unknown): Uint8Array {
  const writer = new Writer()
  writer.fields(request as object, REQUEST)
  return writer.written
}

const VARINT = 0
const EIGHT_BYTES = 1
const DELIMITED = 2
const FIRST_BYTES = 64 * 1024
const MAX_VARINT_BYTES = 10

/**
 * Writes into one growing buffer. A nested message is written in place, and moved if its length takes more than one
 * byte.
 */
class Writer {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #at = 0

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at)
  }

  fields(value: object, message: Message): void {
    for (const [name, content] of Object.entries(value) as [string, unknown][]) {
      if (content === undefined) continue
      const field = message[name]
      // Every field of the JSON must be encoded.
      if (!field) throw new Error(`OTLP: no field '${name}'`)
      const [number, kind] = field
      if (!Array.isArray(content)) this.#value(number, kind, content)
      else if (kind === 'fixed64' || kind === 'double') this.#packed(number, kind, content)
      else for (const one of content) this.#value(number, kind, one)
    }
  }

  #value(number: number, kind: Scalar | Message, value: unknown): void {
    if (typeof kind === 'object') {
      this.#delimited(number, () => this.fields(value as object, kind))
    } else if (kind === 'text' || kind === 'hex') {
      const text = String(value)
      const encoding = kind === 'hex' ? 'hex' : 'utf8'
      const length = Buffer.byteLength(text, encoding)
      this.#tag(number, DELIMITED)
      this.#varint(length)
      this.#room(length)
      this.#at += this.#bytes.write(text, this.#at, encoding)
    } else if (kind === 'bool' || kind === 'varint') {
      this.#tag(number, VARINT)
      this.#varint(Number(value))
    } else {
      this.#tag(number, EIGHT_BYTES)
      this.#eight(kind, value)
    }
  }

  /** A list of numbers is one packed field. */
  #packed(number: number, kind: 'fixed64' | 'double', values: readonly unknown[]): void {
    this.#delimited(number, () => {
      for (const value of values) this.#eight(kind, value)
    })
  }

  #delimited(number: number, write: () => void): void {
    this.#tag(number, DELIMITED)
    this.#room(1)
    const start = this.#at
    this.#at += 1
    write()
    const end = this.#at
    const length = end - start - 1
    this.#at = start
    if (length <= 0x7f) {
      this.#varint(length)
    } else {
      const more = Math.floor(Math.log2(length) / 7)
      this.#at = end
      this.#room(more)
      this.#bytes.copyWithin(start + 1 + more, start + 1, end)
      this.#at = start
      this.#varint(length)
    }
    this.#at += length
  }

  #eight(kind: 'fixed64' | 'double', value: unknown): void {
    this.#room(8)
    if (kind === 'double') this.#bytes.writeDoubleLE(Number(value), this.#at)
    else this.#bytes.writeBigInt64LE(BigInt(value as string), this.#at)
    this.#at += 8
  }

  #tag(number: number, wireType: number): void {
    this.#varint((number << 3) | wireType)
  }

  #varint(value: number): void {
    this.#room(MAX_VARINT_BYTES)
    if (value < 0) return this.#negative(value)
    let rest = value
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) this.#bytes[this.#at++] = (rest % 0x80) | 0x80
    this.#bytes[this.#at++] = rest
  }

  /** Encodes a negative number as 64-bit two's complement. */
  #negative(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80
    this.#bytes[this.#at++] = Number(rest)
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (this.#at + bytes))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}
