// Limits what a remote server may send: a whole response, and each event of a stream, of which the event parser keeps
// every line. A stream is passed on line by line: the parser scans an unfinished line again with every chunk, which
// takes quadratic time for a long line. Content that would block the process while it is parsed is refused beforehand.
import { JsonCost } from '@sandbridge/core/util/json'

/** The size of the longest frame to a kernel: a longer message could not be passed on. */
const MAX_BODY_BYTES = 64 * 1024 * 1024

/** The message states what exceeded the limit. */
export class BodyRefusedError extends Error {
  constructor(tooMuch: string) {
    super(`a message ${tooMuch}`)
  }
}

/** @throws BodyRefusedError */
export async function* atMost(source: AsyncIterable<Buffer>, maxBytes = MAX_BODY_BYTES): AsyncGenerator<Buffer> {
  let size = 0
  const cost = new JsonCost()
  for await (const chunk of source) {
    size += chunk.length
    if (size > maxBytes) throw tooLong()
    refuseCostly(cost.push(chunk))
    yield chunk
  }
}

/**
 * Yields the same lines, each ended by LF, cut only after line ends.
 * @throws BodyRefusedError for an event that is too long or too expensive to parse
 */
export async function* wholeLines(source: AsyncIterable<Buffer>, maxBytes = MAX_BODY_BYTES): AsyncGenerator<Buffer> {
  const events = new EventBounds(maxBytes)
  let pieces: Buffer[] = []
  for await (const chunk of endedByLf(source)) {
    events.push(chunk)
    const end = chunk.lastIndexOf(LF) + 1
    if (end > 0) {
      pieces.push(chunk.subarray(0, end))
      yield pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
      pieces = []
    }
    if (end < chunk.length) pieces.push(chunk.subarray(end))
  }
  if (pieces.length > 0) yield Buffer.concat(pieces)
}

const LF = 0x0a
const CR = 0x0d

/**
 * Lines may also end with CR alone or CR LF (WHATWG HTML, server-sent events). The event parser keeps a CR at the end
 * of a chunk until the next one arrives, and with it an event that is complete.
 */
async function* endedByLf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isAfterCr = false
  for await (const chunk of source) {
    if (chunk.length === 0) continue
    const rest = isAfterCr && chunk[0] === LF ? chunk.subarray(1) : chunk
    isAfterCr = chunk.at(-1) === CR
    yield rest.includes(CR) ? withLf(rest) : rest
  }
}

function withLf(chunk: Buffer): Buffer {
  const out = Buffer.allocUnsafe(chunk.length)
  let size = 0
  let start = 0
  for (let cr = chunk.indexOf(CR); cr >= 0; cr = chunk.indexOf(CR, start)) {
    size += chunk.copy(out, size, start, cr)
    out[size] = LF
    size += 1
    start = chunk[cr + 1] === LF ? cr + 2 : cr + 1
  }
  size += chunk.copy(out, size, start)
  return out.subarray(0, size)
}

/** A blank line ends an event. */
class EventBounds {
  readonly #maxBytes: number
  readonly #cost = new JsonCost()
  #eventBytes = 0
  #lineBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @throws BodyRefusedError */
  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      const isBlank = this.#lineBytes + end - start === 0
      this.#add(end + 1 - start)
      refuseCostly(this.#cost.push(chunk, start, end))
      this.#cost.endLine()
      if (isBlank) {
        this.#eventBytes = 0
        this.#cost.reset()
      }
      this.#lineBytes = 0
      start = end + 1
    }
    if (start === chunk.length) return
    this.#add(chunk.length - start)
    refuseCostly(this.#cost.push(chunk, start, chunk.length))
    this.#lineBytes += chunk.length - start
  }

  #add(bytes: number): void {
    this.#eventBytes += bytes
    if (this.#eventBytes > this.#maxBytes) throw tooLong()
  }
}

function tooLong(): BodyRefusedError {
  return new BodyRefusedError(`above the limit of ${MAX_BODY_BYTES} bytes`)
}

/** @throws BodyRefusedError */
function refuseCostly(tooCostly: string | undefined): void {
  if (tooCostly !== undefined) throw new BodyRefusedError(`with ${tooCostly}`)
}
