// Positions in a text as Python counts them: a character outside of the basic plane is one there, and two code units here. Pure.

export class PythonPositions {
  readonly text: string
  /** Most texts have no such character, and then there is nothing to count. */
  readonly #hasPairs: boolean
  /** The position asked for last, and the pairs before it: most requests go forward. */
  #last = 0
  #pairs = 0

  constructor(text: string) {
    this.text = text
    this.#hasPairs = /[\ud800-\udbff]/.test(text)
  }

  of(position: number): number {
    if (!this.#hasPairs) return position
    if (position < this.#last) {
      this.#last = 0
      this.#pairs = 0
    }
    for (let index = this.#last; index < position; index += 1) {
      if ((this.text.charCodeAt(index) & 0xfc00) === 0xd800) this.#pairs += 1
    }
    this.#last = position
    return position - this.#pairs
  }
}
