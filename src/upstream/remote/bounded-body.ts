// Bounds on what a remote server may send. An event stream is handed on line by line: the event parser behind it looks at an unfinished line
// again with every chunk, which makes a long one take quadratic time.

/** As long as the longest frame to a kernel: what is longer could not be handed on anyway. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024

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

/** The same bytes, cut behind line ends only. @throws BodyTooLongError for a line that is too long */
export async function* wholeLines(source: AsyncIterable<Buffer>, maxBytes = MAX_BODY_BYTES): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let size = 0
  for await (const chunk of source) {
    const end = chunk.lastIndexOf(0x0a) + 1
    if (end > 0) {
      pieces.push(chunk.subarray(0, end))
      yield pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
      pieces = []
      size = 0
    }
    if (end < chunk.length) {
      pieces.push(chunk.subarray(end))
      size += chunk.length - end
      if (size > maxBytes) throw new BodyTooLongError()
    }
  }
  if (pieces.length > 0) yield Buffer.concat(pieces)
}
