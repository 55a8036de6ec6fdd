// From which servers the content of artifacts, memories and project files came, by its hash: another session that reads
// it then knows. Content that is not listed may have come from anywhere.
import { hash } from 'node:crypto'
import * as z from 'zod'
import { JsonRecord } from './json-record.ts'
import type { Store } from './store.ts'

/** Hashes with the names of servers, oldest first. */
const record = z.array(z.tuple([z.string(), z.array(z.string())]))
/** The oldest ones are dropped: their content then counts as unknown. */
const MAX_COUNT = 10_000

export class KeptOrigins {
  readonly #record: JsonRecord<z.infer<typeof record>>

  constructor(store: Store) {
    this.#record = new JsonRecord({
      document: store.document('origins.json'),
      empty: () => [],
      parse: (json) => record.safeParse(json).data,
      damaged: 'empty',
    })
  }

  /** The servers that this content came from; undefined when that is unknown. */
  async of(content: Uint8Array | string): Promise<readonly string[] | undefined> {
    return this.ofHash(hashOf(content))
  }

  /** The same for content with this SHA-256. */
  async ofHash(sha256: string): Promise<readonly string[] | undefined> {
    return (await this.#record.read()).find(([known]) => known === sha256)?.[1]
  }

  /** Adds servers to those that this content came from. @throws BridgeError if it cannot be written */
  async keep(content: Uint8Array | string, servers: readonly string[]): Promise<void> {
    const sha256 = hashOf(content)
    await this.#record.update((all) => {
      const known = all.findIndex(([one]) => one === sha256)
      const before = known === -1 ? [] : all.splice(known, 1)[0]![1]
      all.push([sha256, [...new Set([...before, ...servers])].toSorted()])
      if (all.length > MAX_COUNT) all.splice(0, all.length - MAX_COUNT)
    })
  }
}

const hashOf = (content: Uint8Array | string): string => hash('sha256', content)
