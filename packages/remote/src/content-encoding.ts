// Decodes compressed responses. The bridge does not ask for them: some servers, and proxies in front of them, send them
// anyway. The limits of bodies apply to what comes out.
import { pipeline, type Transform } from 'node:stream'
import zlib from 'node:zlib'

const FLUSH = zlib.constants.Z_SYNC_FLUSH
const BROTLI_FLUSH = zlib.constants.BROTLI_OPERATION_FLUSH
const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform }

/**
 * Each passes on at once what it has, so that events arrive, and ends where a cut body ends.
 * @param first the first byte: `deflate` has a header of its own, but some servers leave it out
 */
const DECODERS: Record<string, (first: number) => Transform> = {
  gzip: () => zlib.createGunzip({ flush: FLUSH, finishFlush: FLUSH }),
  br: () => zlib.createBrotliDecompress({ flush: BROTLI_FLUSH, finishFlush: BROTLI_FLUSH }),
  deflate: (first) => ((first & 0x0f) === 8 ? zlib.createInflate : zlib.createInflateRaw)({ finishFlush: FLUSH }),
  // Node has it since 22.15.
  ...(createZstdDecompress && { zstd: () => createZstdDecompress() }),
}

/** How a compressed body begins, where that is certain. */
const MAGIC: Record<string, Buffer> = { gzip: Buffer.from([0x1f, 0x8b]), zstd: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]) }

/** @param header the value of Content-Encoding. A body in an encoding that Node does not know stays as it is. */
export function decoded(body: AsyncIterable<Buffer>, header: string): AsyncIterable<Buffer> {
  const names = header.split(',').map((name) => name.trim().toLowerCase().replace(/^x-/, ''))
  return names.reduceRight((inner, name) => (Object.hasOwn(DECODERS, name) ? decodedOne(inner, name) : inner), body)
}

async function* decodedOne(body: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]()
  const { done, value: first } = await chunks.next()
  if (done) return
  const rest = { [Symbol.asyncIterator]: () => chunks }
  // A proxy may have decoded it and left the header, or none is there: the way of nearly all bodies.
  const magic = MAGIC[name]
  if (magic && !magic.subarray(0, first.length).equals(first.subarray(0, magic.length))) {
    yield first
    yield* rest
    return
  }
  const whole = async function* (): AsyncGenerator<Buffer> {
    yield first
    yield* rest
  }
  // The error of a broken body is thrown by the iteration.
  yield* pipeline(whole, DECODERS[name]!(first[0] ?? 0), () => {}) as AsyncIterable<Buffer>
}
