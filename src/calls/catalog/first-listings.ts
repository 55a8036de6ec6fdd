// The tools of each server as first listed. If a server later describes a tool differently, the tool may do
// something else: it counts as changed until the user accepts it. All bridges and clients of a user share one
// listing of a server. Servers offer more tools to clients that can be asked more: what a server lists for the first
// client of such a kind is added to its listing. What it had listed before stays as it was.
import { hash } from 'node:crypto'
import type { Log } from '../../util/log.ts'
import { JsonRecord } from '../../keep/json-record.ts'
import type { Store } from '../../keep/store.ts'
import { isRecord } from '../../util/json/json.ts'
import { sortedJson } from '../../util/json/sorted-json.ts'
import type { UpstreamTool } from '../../upstream/upstream.ts'

/** A tool as first listed. For a very long description only the hash is kept. */
export interface FirstListed {
  hash: string
  definition?: unknown
}

interface Listing {
  tools: Map<string, FirstListed>
  /** What the clients could be asked to whom the server has listed its tools; missing in a listing of old versions. */
  abilities: Set<string> | undefined
}

interface Listed {
  tools: readonly UpstreamTool[]
  abilities: string
}

const MAX_KEPT_CHARS = 100_000

export class FirstListings {
  readonly #store: Store
  readonly #log: Pick<Log, 'warning'>
  readonly #listed = new Map<string, Listed>()
  readonly #changed = new Map<string, ReadonlySet<string>>()
  readonly #latest = new Map<string, Promise<void>>()

  constructor(store: Store, log: Pick<Log, 'warning'>) {
    this.#store = store
    this.#log = log
  }

  /**
   * A server has listed its tools.
   * @param key of its definition
   * @param abilities what its clients can be asked
   */
  listed(key: string, tools: readonly UpstreamTool[], abilities: Iterable<string> = []): Promise<void> {
    this.#listed.set(key, { tools, abilities: [...abilities].toSorted().join(' ') })
    return this.#compareSoon(key)
  }

  /**
   * Resolves when everything listed so far is compared, with what the user has accepted in any bridge.
   * @returns undefined if it is, and nothing has changed, as before almost every call
   */
  settled(key: string): Promise<void> | undefined {
    const hasChanged = (this.#changed.get(key)?.size ?? 0) > 0
    return hasChanged ? this.#compareSoon(key) : this.#latest.get(key)
  }

  #compareSoon(key: string): Promise<void> {
    const compared = (this.#latest.get(key) ?? Promise.resolve()).then(async () => {
      await this.#compare(key)
      if (this.#latest.get(key) === compared) this.#latest.delete(key)
    })
    this.#latest.set(key, compared)
    return compared
  }

  /** Whether the tool differs from its first listing, or was not in it. */
  isChanged(key: string, tool: string): boolean {
    return this.#changed.get(key)?.has(tool) === true
  }

  /** The first listing; empty for a server that was never listed. */
  async first(key: string): Promise<ReadonlyMap<string, FirstListed>> {
    return (await this.#record(key).read()).tools
  }

  /** Accepts the tools in their current form. */
  async accept(key: string, tools: readonly UpstreamTool[]): Promise<void> {
    await this.#record(key).update((listing) => {
      for (const tool of tools) listing.tools.set(tool.name, kept(tool))
    })
    const names = new Set(tools.map(({ name }) => name))
    this.#changed.set(key, new Set([...(this.#changed.get(key) ?? [])].filter((name) => !names.has(name))))
  }

  async #compare(key: string): Promise<void> {
    const { tools = [], abilities = '' } = this.#listed.get(key) ?? {}
    const named = tools.filter((tool) => isRecord(tool) && typeof tool.name === 'string')
    try {
      const first = await this.#readOrAdd(key, { tools: named, abilities })
      this.#changed.set(key, new Set(changesIn(first.tools, named)))
    } catch (error) {
      // If the listing cannot be read, all tools count as changed.
      this.#changed.set(key, new Set(named.map(({ name }) => name)))
      this.#log.warning('The first listing of a server cannot be read or kept', { error })
    }
  }

  async #readOrAdd(key: string, listed: Listed): Promise<Listing> {
    const known = await this.#record(key).read()
    if (listed.tools.length === 0 || !isFirst(known, listed)) return known
    return this.#record(key).update((listing) => {
      // Another bridge may have written it meanwhile.
      if (!isFirst(listing, listed)) return
      for (const tool of listed.tools) if (!listing.tools.has(tool.name)) listing.tools.set(tool.name, kept(tool))
      listing.abilities?.add(listed.abilities)
    })
  }

  #record(key: string): JsonRecord<Listing> {
    return new JsonRecord<Listing>({
      document: this.#store.document(`listings/${key.replace(/[^\w-]/g, '').slice(0, 64)}.json`),
      empty: () => ({ tools: new Map(), abilities: new Set() }),
      parse: parseListing,
      serialize: ({ tools, abilities }) => ({
        version: 1,
        tools: Object.fromEntries(tools),
        ...(abilities && { abilities: [...abilities] }),
      }),
      damaged: { record: 'The first listing of a server', hint: 'Delete it to take its tools as they are now.' },
    })
  }
}

/** No client that can be asked these things has been told of the server's tools. */
function isFirst({ tools, abilities }: Listing, listed: Listed): boolean {
  return tools.size === 0 || abilities?.has(listed.abilities) === false
}

/** The names of tools that differ from the first listing. */
export function changesIn(first: ReadonlyMap<string, FirstListed>, tools: readonly UpstreamTool[]): string[] {
  if (first.size === 0) return []
  return tools.filter((tool) => !isSame(first.get(tool.name), tool)).map(({ name }) => name)
}

function isSame(first: FirstListed | undefined, tool: UpstreamTool): boolean {
  if (first?.hash === hashOf(tool)) return true
  return first?.definition !== undefined && orderless(first.definition) === orderless(shown(tool))
}

/** Some servers list keys, and what is a set for them, in another order at each start. */
function orderless(definition: unknown): string {
  return sortedJson(
    JSON.parse(JSON.stringify(definition), (_, value: unknown) => {
      const isSet = Array.isArray(value) && value.every((item) => typeof item === 'string')
      return isSet ? value.toSorted() : value
    }),
  )
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
  const { abilities } = value
  const isListed = (one: unknown): one is FirstListed => isRecord(one) && typeof one['hash'] === 'string'
  if (!entries.every((one): one is [string, FirstListed] => isListed(one[1]))) return undefined
  const known = Array.isArray(abilities) ? abilities.filter((one) => typeof one === 'string') : undefined
  return { tools: new Map(entries), abilities: known && new Set(known) }
}
