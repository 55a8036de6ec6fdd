// Lines to the first process of a kept sandbox. Each has this bridge's generation, a number and a checksum, and is kept
// until it has arrived. Lines that a connection loses are sent again over the next one; the sandbox drops duplicates.
import { crc32 } from 'node:zlib'

export class SentLines {
  readonly #generation: number
  #last = 0
  #held: { number: number; bytes: Buffer }[] = []
  #heldBytes = 0

  constructor(generation: number) {
    this.#generation = generation
  }

  /** Bytes of lines that may not have arrived. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Number of the latest line. */
  get last(): number {
    return this.#last
  }

  add(text: string | Buffer): Buffer {
    this.#last += 1
    const bytes = encodeLine(this.#generation, this.#last, text)
    this.#held.push({ number: this.#last, bytes })
    this.#heldBytes += bytes.length
    return bytes
  }

  /** All lines up to `number` have arrived. */
  got(number: number): void {
    const index = this.#held.findIndex((line) => line.number > number)
    const arrived = this.#held.splice(0, index === -1 ? this.#held.length : index)
    for (const { bytes } of arrived) this.#heldBytes -= bytes.length
  }

  /** Returns the lines that may not have arrived, in order. */
  held(): Buffer[] {
    return this.#held.map(({ bytes }) => bytes)
  }
}

/** @param number 0 for a line outside the sequence */
export function encodeLine(generation: number, number: number, text: string | Buffer): Buffer {
  const body = typeof text === 'string' ? Buffer.from(text) : text
  const prefix = `${generation} ${number}`
  return Buffer.concat([Buffer.from(`${prefix} ${crc32(body, crc32(prefix))} `), body, Buffer.from('\n')])
}
