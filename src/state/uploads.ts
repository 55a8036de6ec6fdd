// Data that comes out of a cell in several pieces, because one frame of it would not fit into the sandbox's memory twice. Held for as long as the cell runs.
import { BridgeError } from '../errors.ts'

const MAX_OPEN = 8

export class Uploads {
  readonly #open = new Map<number, { parts: Buffer[]; sizeBytes: number }>()
  readonly #maxBytes: number
  #count = 0

  /** @param maxBytes the most that one upload may have */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * Add a piece to an upload, or begin one.
   * @returns the number of the upload
   * @throws BridgeError STATE_REFUSED when it becomes too large, or there are too many
   */
  add(upload: number | undefined, data: Buffer): number {
    const number = upload ?? this.#begin()
    const open = this.#find(number)
    if (open.sizeBytes + data.byteLength > this.#maxBytes) {
      this.#open.delete(number)
      throw new BridgeError(
        'STATE_REFUSED',
        `It is larger than ${this.#maxBytes >> 20} MiB, the most that an artifact may have`,
        {
          hint: 'Save it in parts, or compressed.',
        },
      )
    }
    open.parts.push(data)
    open.sizeBytes += data.byteLength
    return number
  }

  /** All of an upload, which is over then. @throws BridgeError STATE_NOT_FOUND */
  take(upload: number): Buffer {
    const { parts } = this.#find(upload)
    this.#open.delete(upload)
    return Buffer.concat(parts)
  }

  #begin(): number {
    if (this.#open.size >= MAX_OPEN) {
      throw new BridgeError('STATE_REFUSED', `${MAX_OPEN} artifacts are being saved at once`, {
        hint: 'Save one after the other.',
      })
    }
    this.#count += 1
    this.#open.set(this.#count, { parts: [], sizeBytes: 0 })
    return this.#count
  }

  #find(upload: number): { parts: Buffer[]; sizeBytes: number } {
    const open = this.#open.get(upload)
    if (!open)
      throw new BridgeError('STATE_NOT_FOUND', `There is no upload ${upload}`, { hint: 'Save the artifact again.' })
    return open
  }
}
