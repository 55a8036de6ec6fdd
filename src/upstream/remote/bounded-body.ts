// Bounds on what a remote server may send: on a whole answer, and on each event of a stream, of which the event parser behind it keeps every line.
// A stream is handed on line by line: the parser looks at an unfinished line again with every chunk, which makes a long one take quadratic time.

/** As long as the longest frame to a kernel: what is longer could not be handed on anyway. */
const MAX_BODY_BYTES = 64 * 1024 * 1024

export class BodyTooLongError extends Error {
  constructor() {
    super(`a message above the limit of ${MAX_BODY_BYTES} bytes`)
  }
}

/** @throws BodyTooLongError */
export async function* atMost(source: AsyncIterable<Buffer>, maxBytes = MAX_BODY_BYTES): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of source) {
    size += chunk.length
    if (size > maxBytes) throw new BodyTooLongError()
    yield chunk
  }
}

/** The same bytes, cut behind line ends only. @throws BodyTooLongError for an event that is too long */
export async function* wholeLines(source: AsyncIterable<Buffer>, maxBytes = MAX_BODY_BYTES): AsyncGenerator<Buffer> {
  const events = new EventSizes(maxBytes)
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

/** A blank line ends an event (WHATWG HTML, server-sent events). Lines that end with CR alone count as one with those after them. */
class EventSizes {
  readonly #maxBytes: number
  #eventBytes = 0
  #lineBytes = 0
  #lastByte = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @throws BodyTooLongError */
  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      const lineBytes = this.#lineBytes + end - start
      const lastByte = end > start ? chunk[end - 1] : this.#lastByte
      const isBlank = lineBytes === 0 || (lineBytes === 1 && lastByte === CR)
      this.#add(end + 1 - start)
      if (isBlank) this.#eventBytes = 0
      this.#lineBytes = 0
      start = end + 1
    }
    if (start === chunk.length) return
    this.#add(chunk.length - start)
    this.#lineBytes += chunk.length - start
    this.#lastByte = chunk.at(-1)!
  }

  #add(bytes: number): void {
    this.#eventBytes += bytes
    if (this.#eventBytes > this.#maxBytes) throw new BodyTooLongError()
  }
}
