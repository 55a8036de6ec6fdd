// The search over everything that is known: tools of servers, what they offer beside tools, and what others add. It keeps one index, made when it is
// first asked for. It reads no server; what is known is the records' business, and how words are ranked the index's.
import type { CatalogTool } from './catalog-tool.ts'
import { didYouMean } from '../text/did-you-mean.ts'
import { isOffering } from './look-up.ts'
import { fuseRanks, type Embeddings } from './search/embeddings.ts'
import { searchDocument } from './search/search-document.ts'
import { SearchIndex } from './search/search-index.ts'
import type { ServerRecord } from './server-record.ts'

interface Where {
  limit: number
  records: readonly ServerRecord[]
  /** Rank what `setOtherTools` was given, too. */
  withOthers: boolean
}

export class CatalogSearch {
  readonly #records: ReadonlyMap<string, ServerRecord>
  readonly #embeddings: Embeddings | undefined
  #index: SearchIndex<CatalogTool> | undefined
  #others: readonly CatalogTool[] = []
  #othersKey = '[]'

  constructor(records: ReadonlyMap<string, ServerRecord>, embeddings: Embeddings | undefined) {
    this.#records = records
    this.#embeddings = embeddings
  }

  /** The tools that fit best, best first, with resources and prompts among them where those fit better. */
  async find(
    query: string,
    { limit, records, withOthers }: Where,
    signal: AbortSignal | undefined,
  ): Promise<CatalogTool[]> {
    const within = new Set(records.map((record) => record.name))
    const others = new Set(withOthers ? this.#others : [])
    const accepts = (tool: CatalogTool) => within.has(tool.server) || others.has(tool)
    const tools = await this.#rank(query, limit, (tool) => !isOffering(tool) && accepts(tool), signal)
    return this.#withOfferings(query, limit, tools, records)
  }

  /** Up to three tools of a server that a wrong name may mean, best first. */
  likeTool(record: ServerRecord, wrong: string): CatalogTool[] {
    const tools = record.tools ?? []
    const aliases = tools.map((tool) => tool.alias)
    const near = didYouMean(wrong, aliases).map((alias) => tools.find((tool) => tool.alias === alias)!)
    const found = this.#known().search(wrong, 3, (tool) => tool.server === record.name && !isOffering(tool))
    return [...new Set([...near, ...found.map(({ item }) => item)])].slice(0, 3)
  }

  setOtherTools(tools: readonly CatalogTool[]): void {
    const key = JSON.stringify(tools.map(({ server, name, definition }) => [server, name, definition.description]))
    if (key === this.#othersKey) return
    this.#othersKey = key
    this.#others = tools
    this.#index = undefined
  }

  /** Tools are known that were not before. */
  add(tools: readonly CatalogTool[]): void {
    for (const tool of tools) this.#index?.add(tool, searchDocument(tool))
  }

  /** Tools are not as they were: what is known is indexed anew when it is next asked for. */
  forget(): void {
    this.#index = undefined
  }

  async #rank(
    query: string,
    limit: number,
    accepts: (tool: CatalogTool) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<CatalogTool[]> {
    const embeddings = this.#embeddings
    const index = this.#known()
    if (embeddings === undefined) return index.search(query, limit, accepts).map(({ item }) => item)
    const candidates = index.search(query, Math.max(limit * 10, 50), accepts).map(({ item }) => item)
    const known = [...this.#records.values()].flatMap((record) => record.tools ?? [])
    const all = [...known, ...this.#others].filter(accepts)
    const byMeaning = await embeddings.rank(
      query,
      all,
      (tool) => `${tool.server} ${tool.name}: ${tool.description}`,
      signal,
    )
    return fuseRanks([candidates, byMeaning], (tool) => `${tool.server}\n${tool.name}`).slice(0, limit)
  }

  /** Resources and prompts among the tools found, where they fit the query better than those do: up to a third of the answer. */
  #withOfferings(query: string, limit: number, tools: CatalogTool[], records: readonly ServerRecord[]): CatalogTool[] {
    const offering = new Set(records.filter((record) => record.offerings.length > 0).map((record) => record.name))
    if (offering.size === 0) return tools
    const index = this.#known()
    const most = Math.max(Math.ceil(limit / 3), limit - tools.length)
    const offered = index.matches(query, most, (tool) => isOffering(tool) && offering.has(tool.server))
    const scores = new Map(
      index.matches(query, limit * 2, (tool) => tools.includes(tool)).map((hit) => [hit.item, hit.score]),
    )
    const found: CatalogTool[] = []
    for (const tool of tools) {
      // What was found by its meaning alone keeps its place.
      const score = scores.get(tool) ?? (this.#embeddings ? Infinity : 0)
      while (offered[0] !== undefined && offered[0].score > score) found.push(offered.shift()!.item)
      found.push(tool)
    }
    return [...found, ...offered.map(({ item }) => item)].slice(0, limit)
  }

  #known(): SearchIndex<CatalogTool> {
    if (this.#index === undefined) {
      this.#index = new SearchIndex()
      for (const record of this.#records.values()) this.add([...(record.tools ?? []), ...record.offerings])
      this.add(this.#others)
    }
    return this.#index
  }
}
