// Data that a cell sends in pieces, as its memory could not hold two copies in one frame.
import type { CallContext } from '@sandbridge/core/calls/methods'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { ARTIFACT_LIMITS } from './artifact-store.ts'

const MAX_OPEN = 8

interface Upload {
  /** Grows ahead of its content, so that many small pieces cause few copies. */
  buffer: Buffer
  sizeBytes: number
}

export class Uploads {
  readonly #open = new Map<number, Upload>()
  readonly #maxBytes: number
  #count = 0
  #takenBytes = 0

  /** @param maxBytes limit for one upload, and for all open uploads together */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * Add a piece to an upload, or begin one.
   * @returns the number of the upload
   * @throws BridgeError STATE_REFUSED if it becomes too large, or too many are open
   */
  add(upload: number | undefined, data: Buffer): number {
    const number = upload ?? this.#begin()
    const open = this.#find(number)
    const sizeBytes = open.sizeBytes + data.byteLength
    if (sizeBytes > this.#maxBytes) {
      this.#open.delete(number)
      throw new BridgeError('STATE_REFUSED', `It exceeds the artifact limit of ${this.#maxBytes >> 20} MiB`, {
        hint: 'Save it in parts, or compressed.',
      })
    }
    if (this.#totalBytes() + data.byteLength > this.#maxBytes) {
      this.#open.delete(number)
      throw new BridgeError(
        'STATE_REFUSED',
        `Together, artifacts that are being saved exceed ${this.#maxBytes >> 20} MiB in all`,
        { hint: 'Save one after the other.' },
      )
    }
    if (sizeBytes > open.buffer.length) open.buffer = grown(open, Math.min(2 * sizeBytes, this.#maxBytes))
    data.copy(open.buffer, open.sizeBytes)
    open.sizeBytes = sizeBytes
    return number
  }

  /**
   * Close an upload and pass its data to `save`. Its bytes count until they are saved.
   * @throws BridgeError STATE_NOT_FOUND, and what `save` throws
   */
  take<T>(upload: number, save: (data: Buffer) => Promise<T>): Promise<T> {
    return this.takeAll([upload], ([data]) => save(data!))
  }

  /** The same for several uploads saved together. @throws BridgeError STATE_NOT_FOUND, and what `save` throws */
  async takeAll<T>(uploads: readonly number[], save: (data: Buffer[]) => Promise<T>): Promise<T> {
    const found = uploads.map((upload) => this.#find(upload))
    const sizeBytes = found.reduce((sum, upload) => sum + upload.sizeBytes, 0)
    for (const upload of uploads) this.#open.delete(upload)
    this.#takenBytes += sizeBytes
    try {
      return await save(found.map(({ buffer, sizeBytes: length }) => buffer.subarray(0, length)))
    } finally {
      this.#takenBytes -= sizeBytes
    }
  }

  #totalBytes(): number {
    let total = this.#takenBytes
    for (const { sizeBytes } of this.#open.values()) total += sizeBytes
    return total
  }

  #begin(): number {
    if (this.#open.size >= MAX_OPEN) {
      throw new BridgeError('STATE_REFUSED', `${MAX_OPEN} artifacts are being saved at once`, {
        hint: 'Save one after the other.',
      })
    }
    this.#count += 1
    this.#open.set(this.#count, { buffer: Buffer.alloc(0), sizeBytes: 0 })
    return this.#count
  }

  #find(upload: number): Upload {
    const open = this.#open.get(upload)
    if (!open)
      throw new BridgeError('STATE_NOT_FOUND', `Unknown upload ${upload}`, { hint: 'Save the artifact again.' })
    return open
  }
}

function grown({ buffer, sizeBytes }: Upload, length: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(length)
  buffer.copy(larger, 0, 0, sizeBytes)
  return larger
}

const ofCells = new WeakMap<CallContext['origin'], Uploads>()

/** The uploads of the cell that makes a call. */
export function uploadsOf({ origin }: Pick<CallContext, 'origin'>): Uploads {
  const uploads = ofCells.get(origin) ?? new Uploads(ARTIFACT_LIMITS.artifactBytes)
  ofCells.set(origin, uploads)
  return uploads
}

/** Node's decoder silently skips characters that are not base64, and would return wrong bytes. */
export function fromBase64(text: string): Buffer {
  const data = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (data.length !== (text.length / 4) * 3 - padding) {
    throw new BridgeError('PROXY_ARGUMENTS_INVALID', 'data: must be base64')
  }
  return data
}
