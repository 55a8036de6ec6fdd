// Small values that cells keep for the user, by key: <state folder>/.sandbridge/memories.json. Bounded in number and size, because the sandbox
// chooses both. One file, since all of it is small; written by several bridges at once, so under a lock.
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import { BridgeError, messageOf } from '../errors.ts'
import { withFileLock } from '../storage/file-lock.ts'
import { replaceFile } from '../storage/replace-file.ts'

export interface MemoryLimits {
  keyChars: number
  /** Of one memory: its value as JSON, and its metadata. */
  memoryBytes: number
  totalBytes: number
  count: number
}

const MEMORY_LIMITS: MemoryLimits = {
  keyChars: 200,
  memoryBytes: 256 << 10,
  totalBytes: 4 << 20,
  count: 1_000,
}

const record = z.object({
  key: z.string(),
  /** JSON text as Python writes it, which may hold NaN. */
  value: z.string(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
const file = z.array(record)
type Memory = z.infer<typeof record>

/** A memory without its value. */
export interface MemoryInfo extends Omit<Memory, 'value'> {
  sizeBytes: number
}

export class MemoryStore {
  readonly #file: string
  readonly #limits: MemoryLimits

  constructor(stateDir: string, limits: MemoryLimits = MEMORY_LIMITS) {
    this.#file = path.join(stateDir, '.sandbridge', 'memories.json')
    this.#limits = limits
  }

  /**
   * Keep a value, instead of what was kept under the key.
   * @param value JSON text as Python writes it; only Python reads it
   * @throws BridgeError STATE_REFUSED for a bad key or a full quota; STATE_UNWRITABLE
   */
  async save(key: string, value: string, metadata?: Record<string, unknown>): Promise<MemoryInfo> {
    this.#checkKey(key)
    return this.#change((all) => {
      const now = new Date().toISOString()
      const before = all.find((memory) => memory.key === key)
      const kept = metadata ?? before?.metadata
      const memory: Memory = {
        key,
        value,
        ...(kept && { metadata: kept }),
        createdAt: before?.createdAt ?? now,
        updatedAt: now,
      }
      const next = [...all.filter((other) => other !== before), memory]
      this.#checkQuota(memory, next)
      return { next, result: infoOf(memory) }
    })
  }

  /** The value as JSON text; undefined when nothing is kept under the key. */
  async load(key: string): Promise<string | undefined> {
    return (await this.#read()).find((memory) => memory.key === key)?.value
  }

  /** All memories without their values, the latest last. */
  async list(): Promise<MemoryInfo[]> {
    return (await this.#read()).map(infoOf)
  }

  /** @returns whether there was one. @throws BridgeError STATE_UNWRITABLE */
  async remove(key: string): Promise<boolean> {
    return this.#change((all) => {
      const next = all.filter((memory) => memory.key !== key)
      return { next, result: next.length < all.length }
    })
  }

  async #change<T>(decide: (all: Memory[]) => { next: Memory[]; result: T }): Promise<T> {
    try {
      await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 })
      return await withFileLock(`${this.#file}.lock`, async () => {
        const { next, result } = decide(await this.#read())
        await replaceFile(this.#file, JSON.stringify(next))
        return result
      })
    } catch (cause) {
      if (BridgeError.isInstance(cause)) throw cause
      throw new BridgeError('STATE_UNWRITABLE', `The memory cannot be written: ${messageOf(cause)}`, { cause })
    }
  }

  /** @throws BridgeError STATE_UNWRITABLE for a file that is damaged, which must not be replaced by an empty one */
  async #read(): Promise<Memory[]> {
    let text: string
    try {
      text = await readFile(this.#file, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw unreadable(this.#file, messageOf(error))
    }
    try {
      return file.parse(JSON.parse(text))
    } catch {
      throw unreadable(this.#file, 'it is not a list of memories')
    }
  }

  #checkKey(key: string): void {
    const { keyChars } = this.#limits
    if (key !== '' && key.length <= keyChars && !/\p{Cc}/u.test(key)) return
    throw new BridgeError('STATE_REFUSED', 'Invalid memory key', {
      hint: `Use 1 to ${keyChars} characters without line breaks.`,
    })
  }

  #checkQuota(memory: Memory, all: Memory[]): void {
    const { memoryBytes, totalBytes, count } = this.#limits
    const total = all.reduce((sum, one) => sum + sizeOf(one), 0)
    const problem =
      sizeOf(memory) > memoryBytes
        ? `it has ${sizeOf(memory)} bytes; the limit of a memory is ${memoryBytes}`
        : total > totalBytes
          ? `the limit of all memories is ${totalBytes} bytes`
          : all.length > count
            ? `the limit of ${count} memories is reached`
            : undefined
    if (problem === undefined) return
    throw new BridgeError('STATE_REFUSED', `The memory was not saved: ${problem}`, {
      hint: 'Delete others with runtime.delete_memory(key), or keep a file with runtime.save_artifact(name, data).',
    })
  }
}

function infoOf({ value, ...about }: Memory): MemoryInfo {
  return { ...about, sizeBytes: Buffer.byteLength(value) }
}

function sizeOf({ key, value, metadata }: Memory): number {
  return Buffer.byteLength(key) + Buffer.byteLength(value) + Buffer.byteLength(JSON.stringify(metadata ?? null))
}

function unreadable(where: string, reason: string): BridgeError {
  return new BridgeError('STATE_UNWRITABLE', `The memories cannot be read: ${reason}`, {
    hint: `Repair or delete ${where}.`,
  })
}
