// Keeps the head and the tail of a text stream in bounded memory. Stores bytes outside the JavaScript heap:
// strings that live briefly would leave several times their size in garbage there.

/** How much of one cell's output is kept, in bytes of UTF-8: half from its start, half from its end. */
export const CELL_OUTPUT_BYTES = 6 * 1024 * 1024

const SCRATCH_BYTES = 64 * 1024
const FIRST_HEAD_BYTES = 16 * 1024

const encoder = new TextEncoder()
/** Buffer for encoding pieces before they enter a ring. */
const scratch = Buffer.allocUnsafe(SCRATCH_BYTES)

export class OutputBuffer {
  readonly #half: number
  /** Grows up to `#half`. */
  #head = Buffer.alloc(0)
  #headBytes = 0
  /** A ring buffer, once the head is full. */
  #tail: Buffer | undefined
  /** Total bytes that were ever added to the tail. */
  #tailBytes = 0

  constructor(keptBytes = CELL_OUTPUT_BYTES) {
    this.#half = Math.floor(keptBytes / 2)
  }

  append(text: string): void {
    const read = this.#tail ? 0 : this.#appendToHead(text)
    if (read < text.length) this.#appendToTail(text.slice(read))
  }

  /** Returns how many code units of the text fitted into the head, whole characters only. */
  #appendToHead(text: string): number {
    // A code unit takes at most three bytes.
    const wanted = Math.min(this.#half, this.#headBytes + text.length * 3)
    if (this.#head.length < wanted) {
      const grown = Buffer.allocUnsafe(Math.min(this.#half, Math.max(wanted, this.#head.length * 2, FIRST_HEAD_BYTES)))
      this.#head.copy(grown, 0, 0, this.#headBytes)
      this.#head = grown
    }
    const { read, written } = encoder.encodeInto(text, this.#head.subarray(this.#headBytes))
    this.#headBytes += written
    return read
  }

  #appendToTail(text: string): void {
    this.#tail ??= Buffer.allocUnsafe(this.#half)
    for (let start = 0; start < text.length;) {
      const { read, written } = encoder.encodeInto(text.slice(start), scratch)
      this.#writeToRing(this.#tail, scratch.subarray(0, written))
      start += read
    }
  }

  #writeToRing(ring: Buffer, bytes: Buffer): void {
    let from = 0
    while (from < bytes.length) {
      const position = this.#tailBytes % ring.length
      const count = bytes.copy(ring, position, from)
      this.#tailBytes += count
      from += count
    }
  }

  /** How much was appended: a place for `split`. */
  get length(): number {
    return this.#headBytes + this.#tailBytes
  }

  /** The text, in pieces that end at these places and at its end. A place that is not kept is where the gap is. */
  split(places: readonly number[]): string[] {
    const whole = this.#bytes()
    // What was dropped, less the line about it.
    const moved = this.length - whole.length
    const firstKept = this.length - (this.#tail?.length ?? 0)
    const ends = places.map((place) =>
      place <= this.#headBytes ? place : place < firstKept ? this.#headBytes : place - moved,
    )
    return [...ends, whole.length].map((end, index) => whole.toString('utf8', ends[index - 1] ?? 0, end))
  }

  toString(): string {
    return this.#bytes().toString()
  }

  #bytes(): Buffer {
    const head = this.#head.subarray(0, this.#headBytes)
    const tail = this.#tail
    if (!tail) return head
    if (this.#tailBytes <= tail.length) return Buffer.concat([head, tail.subarray(0, this.#tailBytes)])
    const position = this.#tailBytes % tail.length
    const [older, newer] = [tail.subarray(position), tail.subarray(0, position)]
    const start = firstCharacter(Buffer.concat([older.subarray(0, 4), newer.subarray(0, 4)]))
    const dropped = (this.#tailBytes - tail.length + start).toLocaleString('en')
    // The line is plain ASCII: one other character would double the memory of the whole text.
    const line = Buffer.from(`\n... ${dropped} bytes are not kept ...\n`)
    const pieces = [older.subarray(start), newer.subarray(Math.max(0, start - older.length))]
    return Buffer.concat([head, line, ...pieces])
  }
}

/** Returns the offset of the first whole UTF-8 character. */
function firstCharacter(bytes: Buffer): number {
  let start = 0
  while (start < Math.min(4, bytes.length) && (bytes[start]! & 0xc0) === 0x80) start += 1
  return start
}
