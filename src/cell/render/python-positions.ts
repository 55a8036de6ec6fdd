// Converts positions in a text to Python's: a character outside the basic plane counts once there, and is two code
// units here. Pure.

export class PythonPositions {
  readonly text: string
  /** Most texts have no such character, and then nothing must be counted. */
  readonly #hasPairs: boolean
  /** The last requested position and the pairs before it: most requests move forward. */
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
