// The tools of each server as first listed. If a server later describes a tool differently, the tool may do something
// else: it counts as changed until the user accepts it.
import { hash } from 'node:crypto'
import type { Log } from '../../util/log.ts'
import { JsonRecord } from '../../keep/json-record.ts'
import type { Store } from '../../keep/store.ts'
import { isRecord } from '../../util/json/json.ts'
import type { UpstreamTool } from '../../upstream/upstream.ts'

/** A tool as first listed. For a very long description only the hash is kept. */
export interface FirstListed {
  hash: string
  definition?: unknown
}

type Listing = Map<string, FirstListed>

const MAX_KEPT_CHARS = 100_000

export class FirstListings {
  readonly #store: Store
  readonly #log: Pick<Log, 'warning'>
  /** Listing by server, once it was read or created. */
  readonly #known = new Map<string, Promise<Listing>>()
  readonly #changed = new Map<string, ReadonlySet<string>>()
  readonly #latest = new Map<string, Promise<void>>()

  constructor(store: Store, log: Pick<Log, 'warning'>) {
    this.#store = store
    this.#log = log
  }

  /** A server has listed its tools. @param key of its definition */
  listed(key: string, tools: readonly UpstreamTool[]): Promise<void> {
    const compared = (this.#latest.get(key) ?? Promise.resolve()).then(() => this.#compare(key, tools))
    this.#latest.set(key, compared)
    return compared
  }

  /** Resolves when everything listed so far is compared. */
  async settled(key: string): Promise<void> {
    await this.#latest.get(key)
  }

  /** Whether the tool differs from its first listing, or was not in it. */
  isChanged(key: string, tool: string): boolean {
    return this.#changed.get(key)?.has(tool) === true
  }

  /** The first listing; empty for a server that was never listed. */
  async first(key: string): Promise<ReadonlyMap<string, FirstListed>> {
    return this.#record(key).read()
  }

  /** Accepts the tools in their current form. */
  async accept(key: string, tools: readonly UpstreamTool[]): Promise<void> {
    await this.#record(key).update((listing) => {
      for (const tool of tools) listing.set(tool.name, kept(tool))
    })
    this.#known.delete(key)
    const names = new Set(tools.map(({ name }) => name))
    this.#changed.set(key, new Set([...(this.#changed.get(key) ?? [])].filter((name) => !names.has(name))))
  }

  async #compare(key: string, tools: readonly UpstreamTool[]): Promise<void> {
    const named = tools.filter((tool) => isRecord(tool) && typeof tool.name === 'string')
    try {
      let first = this.#known.get(key)
      if (first === undefined) this.#known.set(key, (first = this.#readOrMake(key, named)))
      const listing = await first
      this.#changed.set(key, new Set(changesIn(listing, named)))
    } catch (error) {
      this.#known.delete(key)
      // If the listing cannot be read, all tools count as changed.
      this.#changed.set(key, new Set(named.map(({ name }) => name)))
      this.#log.warning('The first listing of a server cannot be read or kept', { error })
    }
  }

  async #readOrMake(key: string, tools: readonly UpstreamTool[]): Promise<Listing> {
    const known = await this.#record(key).read()
    if (known.size > 0 || tools.length === 0) return known
    return this.#record(key).update((listing) => {
      // Another bridge may have written the listing first.
      if (listing.size === 0) for (const tool of tools) listing.set(tool.name, kept(tool))
    })
  }

  #record(key: string): JsonRecord<Listing> {
    return new JsonRecord<Listing>({
      document: this.#store.document(`listings/${key.replace(/[^\w-]/g, '').slice(0, 64)}.json`),
      empty: () => new Map(),
      parse: parseListing,
      serialize: (listing) => ({ version: 1, tools: Object.fromEntries(listing) }),
      damaged: { record: 'The first listing of a server', hint: 'Delete it to take its tools as they are now.' },
    })
  }
}

/** The names of tools that differ from the first listing. */
export function changesIn(first: ReadonlyMap<string, FirstListed>, tools: readonly UpstreamTool[]): string[] {
  if (first.size === 0) return []
  return tools.filter((tool) => first.get(tool.name)?.hash !== hashOf(tool)).map(({ name }) => name)
}

function kept(tool: UpstreamTool): FirstListed {
  const definition = shown(tool)
  const isSmall = JSON.stringify(definition).length <= MAX_KEPT_CHARS
  return { hash: hashOf(tool), ...(isSmall && { definition }) }
}

function hashOf(tool: UpstreamTool): string {
  return hash('sha256', JSON.stringify(shown(tool)))
}

/** The fields that a model or a rule depends on. */
export function shown({ name, title, description, inputSchema, outputSchema, annotations }: UpstreamTool): object {
  return { name, title, description, inputSchema, outputSchema, annotations }
}

function parseListing(value: unknown): Listing | undefined {
  if (!isRecord(value) || value['version'] !== 1 || !isRecord(value['tools'])) return undefined
  const entries = Object.entries(value['tools'])
  const isListed = (one: unknown): one is FirstListed => isRecord(one) && typeof one['hash'] === 'string'
  return entries.every(([, one]) => isListed(one)) ? new Map(entries as [string, FirstListed][]) : undefined
}
