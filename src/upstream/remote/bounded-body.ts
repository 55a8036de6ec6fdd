// Limits what a remote server may send: a whole response, and each event of a stream, of which the event parser keeps
// every line. A stream is passed on line by line: the parser scans an unfinished line again with every chunk, which
// takes quadratic time for a long line. Content that would block the process while it is parsed is refused beforehand.
import { JsonCost } from '../../util/json/line-cost.ts'

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
 * Yields the same bytes, cut only after line ends.
 * @throws BodyRefusedError for an event that is too long or too expensive to parse
 */
export async function* wholeLines(source: AsyncIterable<Buffer>, maxBytes = MAX_BODY_BYTES): AsyncGenerator<Buffer> {
  const events = new EventBounds(maxBytes)
  let pieces: Buffer[] = []
  for await (const chunk of source) {
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
 * A blank line ends an event (WHATWG HTML, server-sent events). Lines that end with CR alone count as one with the
 * following lines.
 */
class EventBounds {
  readonly #maxBytes: number
  readonly #cost = new JsonCost()
  #eventBytes = 0
  #lineBytes = 0
  #lastByte = 0
  /** Position of the next CR in the chunk. */
  #cr = -1

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @throws BodyRefusedError */
  push(chunk: Buffer): void {
    let start = 0
    this.#cr = chunk.indexOf(CR)
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      const lineBytes = this.#lineBytes + end - start
      const lastByte = end > start ? chunk[end - 1] : this.#lastByte
      const isBlank = lineBytes === 0 || (lineBytes === 1 && lastByte === CR)
      this.#add(end + 1 - start)
      this.#weigh(chunk, start, end)
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
    this.#weigh(chunk, start, chunk.length)
    this.#lineBytes += chunk.length - start
    this.#lastByte = chunk.at(-1)!
  }

  #add(bytes: number): void {
    this.#eventBytes += bytes
    if (this.#eventBytes > this.#maxBytes) throw tooLong()
  }

  /**
   * Adds the cost of a line's part. A CR also ends a line, and with it a string that was opened in a field that is not
   * JSON.
   */
  #weigh(chunk: Buffer, start: number, end: number): void {
    let from = start
    while (this.#cr >= 0 && this.#cr < end) {
      refuseCostly(this.#cost.push(chunk, from, this.#cr))
      this.#cost.endLine()
      from = this.#cr + 1
      this.#cr = chunk.indexOf(CR, from)
    }
    refuseCostly(this.#cost.push(chunk, from, end))
  }
}

function tooLong(): BodyRefusedError {
  return new BodyRefusedError(`above the limit of ${MAX_BODY_BYTES} bytes`)
}

/** @throws BodyRefusedError */
function refuseCostly(tooCostly: string | undefined): void {
  if (tooCostly !== undefined) throw new BodyRefusedError(`with ${tooCostly}`)
}
