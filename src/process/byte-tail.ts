// The last bytes of a stream, for a diagnosis: memory stays bounded however much goes past.

export interface ByteTail {
  push(chunk: Buffer): void
  text(): string
}

export function createByteTail(maxBytes: number): ByteTail {
  let chunks: Buffer[] = []
  let size = 0
  return {
    push(chunk) {
      // A copy of the end, so that a small view does not keep a large pool slab alive.
      const piece = chunk.length > maxBytes ? Buffer.from(chunk.subarray(-maxBytes)) : chunk
      chunks.push(piece)
      size += piece.length
      while (size - chunks[0]!.length >= maxBytes) size -= chunks.shift()!.length
      if (chunks.length > 256) chunks = [Buffer.concat(chunks)]
    },
    text: () => Buffer.concat(chunks).subarray(-maxBytes).toString('utf8'),
  }
}
