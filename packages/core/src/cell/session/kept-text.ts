// Stores the output of the cells of all sessions: in memory up to a limit, then in files of the cache folder, oldest
// text first. Only the user can read the files. They are deleted with their session or the bridge.
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Log } from '../../util/log.ts'
import { isRunning } from '../../util/process/process-id.ts'
import { orUndefined } from '../../util/or-undefined.ts'

/** Shorter texts are stored uncompressed: compression would gain little. */
const COMPRESSED_FROM_CHARS = 16 * 1024
/** Overhead of a text besides its bytes: its objects and its file name. */
export const TEXT_OVERHEAD_BYTES = 512
/** Over all sessions. Older texts move to the disk. */
const MEMORY_BYTES = 128 * 1024 * 1024
/** Limit for all files together. Above it, the oldest text is dropped. */
const DISK_BYTES = 1024 * 1024 * 1024

interface KeptTextsOptions {
  memoryBytes?: number
  /** Parent of each bridge's folder; this bridge creates its own when it needs it. */
  folder: string
  log?: Log
  diskBytes?: number
}

export type KeptText = Pick<Text, 'length' | 'read' | 'drop'>

export class KeptTexts {
  readonly #options: KeptTextsOptions
  readonly #folder: string
  /** Oldest first. */
  readonly #inMemory = new Set<Text>()
  readonly #onDisk = new Set<Text>()
  #memoryBytes = 0
  #diskBytes = 0
  #hasFolder = false

  constructor(options: KeptTextsOptions) {
    this.#options = options
    this.#folder = path.join(options.folder, `${process.pid}-${randomUUID()}`)
  }

  keep(text: string): KeptText {
    const isLong = text.length >= COMPRESSED_FROM_CHARS
    const bytes = isLong ? deflateRawSync(text, { level: 1 }) : Buffer.from(text)
    const kept = new Text(ownCopy(bytes), isLong, () => this.#forget(kept))
    this.#inMemory.add(kept)
    this.#memoryBytes += kept.length
    for (const oldest of this.#inMemory) {
      if (this.#memoryBytes <= (this.#options.memoryBytes ?? MEMORY_BYTES) || oldest === kept) break
      this.#spill(oldest)
    }
    return kept
  }

  close(): void {
    for (const text of [...this.#inMemory, ...this.#onDisk]) text.drop()
    if (this.#hasFolder) rmSync(this.#folder, { recursive: true, force: true })
  }

  #spill(text: Text): void {
    this.#inMemory.delete(text)
    this.#memoryBytes -= text.length
    try {
      text.moveTo(path.join(this.#madeFolder(), randomUUID()))
    } catch (error) {
      this.#options.log?.warning('Moving the output of a cell to the cache folder failed; the output is lost', {
        error,
      })
      text.drop()
      return
    }
    this.#onDisk.add(text)
    this.#diskBytes += text.length
    for (const oldest of this.#onDisk) {
      if (this.#diskBytes <= (this.#options.diskBytes ?? DISK_BYTES)) break
      oldest.drop()
    }
  }

  #forget(text: Text): void {
    if (this.#inMemory.delete(text)) this.#memoryBytes -= text.length
    if (this.#onDisk.delete(text)) this.#diskBytes -= text.length
  }

  #madeFolder(): string {
    if (this.#hasFolder) return this.#folder
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    this.#hasFolder = true
    for (const name of readdirSync(this.#options.folder)) {
      const owner = Number(/^(\d+)-/.exec(name)?.[1])
      // Left by a bridge that was killed.
      if (owner > 0 && !isRunning(owner))
        rmSync(path.join(this.#options.folder, name), { recursive: true, force: true })
    }
    return this.#folder
  }
}

/** One stored text. */
class Text {
  /** In bytes, in memory or on disk. */
  readonly length: number
  readonly #isCompressed: boolean
  readonly #onDrop: () => void
  #bytes: Buffer | undefined
  #file: string | undefined

  constructor(bytes: Buffer, isCompressed: boolean, onDrop: () => void) {
    this.length = bytes.length + TEXT_OVERHEAD_BYTES
    this.#bytes = bytes
    this.#isCompressed = isCompressed
    this.#onDrop = onDrop
  }

  moveTo(file: string): void {
    writeFileSync(file, this.#bytes!, { mode: 0o600, flag: 'wx' })
    this.#file = file
    this.#bytes = undefined
  }

  /** @returns undefined when it was dropped, or the cache was emptied */
  read(): string | undefined {
    const file = this.#file
    const bytes = this.#bytes ?? (file && orUndefined(() => readFileSync(file)))
    return bytes && (this.#isCompressed ? inflateRawSync(bytes) : bytes).toString()
  }

  drop(): void {
    this.#onDrop()
    if (this.#file !== undefined) rmSync(this.#file, { force: true })
    this.#bytes = undefined
    this.#file = undefined
  }
}

/** Copies the bytes: what zlib and `Buffer.from` return would keep a larger buffer in memory. */
function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}
