// Keeps the last bytes of a stream in bounded memory, for diagnosis.

export interface ByteTail {
  push(chunk: Buffer): void
  readonly length: number
  /** Returns the kept bytes as text, without the first `after` bytes of the stream. */
  text(after?: number): string
}

export function createByteTail(maxBytes: number): ByteTail {
  let chunks: Buffer[] = []
  let size = 0
  let length = 0
  return {
    get length() {
      return length
    },
    push(chunk) {
      length += chunk.length
      // Copied, so that a small view does not keep a large pool slab alive.
      const piece = chunk.length > maxBytes ? Buffer.from(chunk.subarray(-maxBytes)) : chunk
      chunks.push(piece)
      size += piece.length
      while (size - chunks[0]!.length >= maxBytes) size -= chunks.shift()!.length
      if (chunks.length > 256) chunks = [Buffer.concat(chunks)]
    },
    text: (after = 0) => {
      const wanted = Math.min(maxBytes, length - after)
      return wanted > 0 ? Buffer.concat(chunks).subarray(-wanted).toString('utf8') : ''
    },
  }
}
