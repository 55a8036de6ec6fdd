// Decodes what may be compressed: responses, which nobody has asked to be, and archives. Limits apply to the result.
import { pipeline, type Transform } from 'node:stream'
import zlib from 'node:zlib'

const FLUSH = zlib.constants.Z_SYNC_FLUSH
const BROTLI_FLUSH = zlib.constants.BROTLI_OPERATION_FLUSH
const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform }

/** Each passes on at once what it has, so that events arrive, and ends where a cut body ends. */
const DECODERS: Record<string, () => Transform> = {
  gzip: () => zlib.createGunzip({ flush: FLUSH, finishFlush: FLUSH }),
  br: () => zlib.createBrotliDecompress({ flush: BROTLI_FLUSH, finishFlush: BROTLI_FLUSH }),
  zlib: () => zlib.createInflate({ finishFlush: FLUSH }),
  // `deflate` has the header of zlib, but some servers leave it out.
  deflate: () => zlib.createInflateRaw({ finishFlush: FLUSH }),
  // Node has it since 22.15.
  ...(createZstdDecompress && { zstd: createZstdDecompress }),
}

/** How compressed bodies begin, where that is certain: no message begins so. */
const MAGIC: [name: string, start: number[]][] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['zlib', [0x78, 0x01]],
  ['zlib', [0x78, 0x5e]],
  ['zlib', [0x78, 0x9c]],
  ['zlib', [0x78, 0xda]],
]
/** So much of a body shows whether it is text. */
const HEAD_BYTES = 16
const NO_TEXT = /[^\t\n\r -\u{10ffff}]/u

/** @param header of Content-Encoding, if there is one. A body that certainly begins otherwise counts more than it. */
export function decoded(body: AsyncIterable<Buffer>, header = ''): AsyncIterable<Buffer> {
  const given = header
    .toLowerCase()
    .replaceAll(/(?<![\w-])(?:x-|identity)/g, '')
    .split(',')
  // A server and the proxy in front of it may both have encoded it, of which the header names one.
  const names = header === '' ? given : ['', ...given.map((name) => name.trim())]
  return names.reduceRight((inner, name) => decodedOne(inner, name), body)
}

async function* decodedOne(body: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done) return
  let head = first.value
  const rest = { [Symbol.asyncIterator]: () => chunks }
  // Nearly all bodies have no header, and begin as no compressed one does.
  const isPlain = name === '' && !MAGIC.some(([, start]) => start[0] === head[0])
  while (head.length < (isPlain ? 1 : HEAD_BYTES)) {
    const next = await chunks.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  const whole = async function* (): AsyncGenerator<Buffer> {
    yield head
    yield* rest
  }
  // A proxy may have decoded it and left the header.
  const how =
    isPlain || isText(head)
      ? ''
      : (MAGIC.find(([, start]) => start.every((byte, at) => head[at] === byte))?.[0] ?? name)
  if (how === '') {
    yield* whole()
    return
  }
  if (!Object.hasOwn(DECODERS, how)) throw new SyntaxError(`it is encoded as '${how}', which Node cannot read here`)
  // The error of a broken body is thrown by the iteration.
  yield* pipeline(whole, DECODERS[how]!(), () => {}) as AsyncIterable<Buffer>
}

function isText(head: Buffer): boolean {
  try {
    // Streaming: a character may be cut.
    return !NO_TEXT.test(
      new TextDecoder('utf-8', { fatal: true }).decode(head.subarray(0, HEAD_BYTES), { stream: true }),
    )
  } catch {
    return false
  }
}

/** Reads a stream of an untrusted sender; leaving early closes it. @param tooLong thrown beyond `maxBytes` */
export async function readAtMost(
  stream: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.length
    if (size > maxBytes) throw tooLong()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
