// From which servers what is kept came, by its hash, so that another session that reads it knows.
import { hash } from 'node:crypto'
import * as z from 'zod'
import { JsonDocument } from './json-document.ts'
import type { Store } from './store.ts'

/** Hashes with the names of servers, oldest first. */
const pairs = z.array(z.tuple([z.string(), z.array(z.string())]))
/** The oldest ones are dropped: their content then counts as unknown. */
const MAX_COUNT = 10_000

export type Content = Uint8Array | string

export class KeptOrigins {
  readonly #document: JsonDocument<z.infer<typeof pairs>>

  constructor(store: Store) {
    this.#document = new JsonDocument({
      document: store.document('origins.json'),
      empty: () => [],
      parse: (json) => pairs.safeParse(json).data,
      damaged: 'empty',
    })
  }

  /** The servers that each content came from; undefined for one that is not listed. */
  of(contents: readonly Content[]): Promise<(readonly string[] | undefined)[]> {
    return this.ofHashes(contents.map(hashOf))
  }

  /** The same for contents with these SHA-256. */
  async ofHashes(hashes: readonly string[]): Promise<(readonly string[] | undefined)[]> {
    const known = new Map(await this.#document.read())
    return hashes.map((sha256) => known.get(sha256))
  }

  /** Adds servers to those that each content came from. @throws BridgeError if it cannot be written */
  async keep(contents: readonly (readonly [Content, readonly string[]])[]): Promise<void> {
    const added = contents.map(([content, servers]) => [hashOf(content), servers] as const)
    await this.#document.update((all) => {
      const known = new Map(all)
      for (const [sha256, servers] of added) {
        const before = known.get(sha256) ?? []
        known.delete(sha256)
        known.set(sha256, [...new Set([...before, ...servers])].toSorted())
      }
      all.splice(0, all.length, ...[...known].slice(-MAX_COUNT))
    })
  }
}

const hashOf = (content: Content): string => hash('sha256', content)
