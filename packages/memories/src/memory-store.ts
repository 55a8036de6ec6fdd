// Stores small values that cells keep for the user, by key. Limited in number and size, because the sandbox chooses
// both. One document holds everything, since it is small.
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { JsonDocument, type Store } from '@sandbridge/core/util/stores'
import { withoutUndefined } from '@sandbridge/core/util/json/json.ts'

export interface MemoryLimits {
  keyChars: number
  /** Limit per memory: its value as JSON, and its metadata. */
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
  /** JSON as Python writes it, which may contain NaN. */
  value: z.string(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  /** Different after each save. */
  revision: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
const memories = z.array(record)
type Memory = z.infer<typeof record>

/** A memory without its value. */
export interface MemoryInfo extends Omit<Memory, 'value' | 'revision'> {
  sizeBytes: number
}

/** The revision of a key that has no memory. */
const NO_REVISION = ''

export class MemoryStore {
  readonly #document: JsonDocument<Memory[]>
  readonly #limits: MemoryLimits

  constructor(store: Store, limits: MemoryLimits = MEMORY_LIMITS) {
    const document = store.document('memories.json')
    this.#document = new JsonDocument({
      document,
      empty: () => [],
      parse: (json) => memories.safeParse(json).data,
      damaged: { code: 'STATE_UNWRITABLE', name: 'The memories', hint: `Repair or delete ${document.place}.` },
    })
    this.#limits = limits
  }

  /**
   * Save a value, in place of any earlier value of the key.
   * @param value JSON as Python writes it; only Python reads it
   * @param madeOf the revision that the value was made of; undefined: whatever is there is replaced
   * @returns undefined, and nothing is saved, if the memory has another revision than `madeOf`
   * @throws BridgeError STATE_REFUSED for a bad key or a full quota; STATE_UNWRITABLE
   */
  async save(
    key: string,
    value: string,
    metadata?: Record<string, unknown>,
    madeOf?: string,
  ): Promise<MemoryInfo | undefined> {
    this.#checkKey(key)
    const now = new Date().toISOString()
    const revision = randomUUID()
    let saved: Memory | undefined
    await this.#document.update((kept) => {
      const index = kept.findIndex((memory) => memory.key === key)
      const before = kept[index]
      saved = undefined
      if (madeOf !== undefined && madeOf !== (before?.revision ?? NO_REVISION)) return
      if (before !== undefined) kept.splice(index, 1)
      const createdAt = before?.createdAt ?? now
      saved = withoutUndefined({
        key,
        value,
        metadata: metadata ?? before?.metadata,
        revision,
        createdAt,
        updatedAt: now,
      })
      kept.push(saved)
      this.#checkQuota(saved, kept)
    })
    return saved && infoOf(saved)
  }

  /** Returns the value as JSON, undefined for an unknown key, and the revision that `save` compares. */
  async load(key: string): Promise<{ value: string | undefined; revision: string }> {
    const found = (await this.#document.read()).find((memory) => memory.key === key)
    return { value: found?.value, revision: found?.revision ?? NO_REVISION }
  }

  /** Returns all memories without their values, the most recently saved last. */
  async list(): Promise<MemoryInfo[]> {
    return (await this.#document.read()).map(infoOf)
  }

  /** @returns whether it existed @throws BridgeError STATE_UNWRITABLE */
  async remove(key: string): Promise<boolean> {
    let isRemoved = false
    await this.#document.update((kept) => {
      const index = kept.findIndex((memory) => memory.key === key)
      isRemoved = index !== -1
      if (isRemoved) kept.splice(index, 1)
    })
    return isRemoved
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

function infoOf({ key, value, metadata, createdAt, updatedAt }: Memory): MemoryInfo {
  return withoutUndefined({ key, metadata, createdAt, updatedAt, sizeBytes: Buffer.byteLength(value) })
}

function sizeOf({ key, value, metadata }: Memory): number {
  return Buffer.byteLength(key) + Buffer.byteLength(value) + Buffer.byteLength(JSON.stringify(metadata ?? null))
}
