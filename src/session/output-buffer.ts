// Keeps the head and the tail of a stream of text in bounded memory, however much is printed.

/** How much of the output of one cell is kept, in UTF-16 code units: half from its start, half from its end. */
export const CELL_OUTPUT_CHARS = 16 * 1024 * 1024

export class OutputBuffer {
  readonly #half: number
  #head = ''
  #tail: string[] = []
  #tailLength = 0
  #dropped = 0

  constructor(keptChars = CELL_OUTPUT_CHARS) {
    this.#half = Math.floor(keptChars / 2)
  }

  append(text: string): void {
    const room = text.length <= this.#half - this.#head.length ? text.length : this.#roomForHead(text)
    if (room > 0) this.#head += text.slice(0, room)
    if (room === text.length) return
    const rest = text.slice(room)
    this.#tail.push(rest)
    this.#tailLength += rest.length
    this.#shedTail()
  }

  /** How much of a text that does not fit still does, without parting a surrogate pair. Nothing once the tail has begun. */
  #roomForHead(text: string): number {
    if (this.#tail.length > 0) return 0
    const room = this.#half - this.#head.length
    return (text.charCodeAt(room) & 0xfc00) === 0xdc00 ? room - 1 : room
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
    let kept = tail.slice(-this.#half)
    if ((kept.charCodeAt(0) & 0xfc00) === 0xdc00) kept = kept.slice(1)
    const dropped = this.#dropped + tail.length - kept.length
    if (dropped === 0) return this.#head + tail
    return `${this.#head}\n… ${dropped.toLocaleString('en')} characters are not kept …\n${kept}`
  }
}
