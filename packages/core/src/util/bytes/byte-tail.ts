// Keeps the last bytes of a stream in bounded memory, for diagnosis.

export function createByteTail(maxBytes: number) {
  let chunks: Buffer[] = []
  let size = 0
  let length = 0
  return {
    get length(): number {
      return length
    },
    push(chunk: Buffer): void {
      length += chunk.length
      // Copied, so that a small view does not keep a large pool slab alive.
      const piece = chunk.length > maxBytes ? Buffer.from(chunk.subarray(-maxBytes)) : chunk
      chunks.push(piece)
      size += piece.length
      while (size - chunks[0]!.length >= maxBytes) size -= chunks.shift()!.length
      if (chunks.length > 256) chunks = [Buffer.concat(chunks)]
    },
    /** Returns the kept bytes as text, without the first `after` bytes of the stream. */
    text: (after = 0): string => {
      const wanted = Math.min(maxBytes, length - after)
      return wanted > 0 ? Buffer.concat(chunks).subarray(-wanted).toString('utf8') : ''
    },
  }
}
