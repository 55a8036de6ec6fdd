// Lines to the first process of a kept sandbox: each has the generation of this bridge, a number and a checksum, and is held until it has arrived. What a
// connection has lost is sent again over the next one, and what has arrived already is dropped there.
import { crc32 } from 'node:zlib'

interface Line {
  number: number
  bytes: Buffer
}

export class SentLines {
  readonly #generation: number
  #last = 0
  #held: Line[] = []
  #heldBytes = 0

  constructor(generation: number) {
    this.#generation = generation
  }

  /** Of lines whose arrival is not known. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** The number of the line that was added last. */
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

  /** All lines up to this one have arrived. */
  got(number: number): void {
    const index = this.#held.findIndex((line) => line.number > number)
    const arrived = this.#held.splice(0, index === -1 ? this.#held.length : index)
    for (const { bytes } of arrived) this.#heldBytes -= bytes.length
  }

  /** Those that may not have arrived, in their order. */
  held(): Buffer[] {
    return this.#held.map(({ bytes }) => bytes)
  }
}

/** @param number 0 for one that counts by itself, whatever came before it */
export function encodeLine(generation: number, number: number, text: string | Buffer): Buffer {
  const body = typeof text === 'string' ? Buffer.from(text) : text
  const prefix = `${generation} ${number}`
  return Buffer.concat([Buffer.from(`${prefix} ${crc32(body, crc32(prefix))} `), body, Buffer.from('\n')])
}
