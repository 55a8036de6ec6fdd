// Keeps the head and the tail of a stream of text in bounded memory, however much is printed.

/** How much of one stream is kept, in UTF-16 code units: half from its start, half from its end. */
export const KEPT_CHARS = 2_000_000

export class OutputBuffer {
  readonly #half: number
  #head = ''
  #tail: string[] = []
  #tailLength = 0
  #dropped = 0

  constructor(keptChars = KEPT_CHARS) {
    this.#half = Math.floor(keptChars / 2)
  }

  append(text: string): void {
    const room = this.#half - this.#head.length
    if (room > 0) this.#head += text.slice(0, room)
    const rest = text.slice(Math.max(room, 0))
    if (!rest) return
    this.#tail.push(rest)
    this.#tailLength += rest.length
    this.#shedTail()
  }

  /** Drop whole pieces from the start of the tail while enough is left without them. */
  #shedTail(): void {
    let pieces = 0
    for (const piece of this.#tail) {
      if (this.#tailLength - piece.length < this.#half) break
      this.#tailLength -= piece.length
      this.#dropped += piece.length
      pieces += 1
    }
    if (pieces > 0) this.#tail.splice(0, pieces)
  }

  toString(): string {
    const tail = this.#tail.join('')
    const kept = tail.slice(-this.#half)
    const dropped = this.#dropped + tail.length - kept.length
    return dropped === 0 ? this.#head + tail : `${this.#head}\n… ${dropped} characters were dropped here …\n${kept}`
  }
}
