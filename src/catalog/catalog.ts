// What is known of all servers and their tools: from memory, from disk, or, when there is no other way, by asking the server.
// It never starts a server itself — `listTools` does — and everything but a first listing is answered without one.
import { BridgeError } from '../errors.ts'
import type { ServerDefinition } from '../config/server-definition.ts'
import type { Log } from '../log.ts'
import type { ToolResult, UpstreamTool } from '../upstream/upstream.ts'
import { bindArguments } from './signature/bind.ts'
import { CatalogOffering, type Offerings } from './catalog-offering.ts'
import type { CatalogTool } from './catalog-tool.ts'
import { checkArguments, type SeenCall } from './signature/check-arguments.ts'
import { didYouMean } from './did-you-mean.ts'
import { DiskCache } from './disk-cache.ts'
import { fuseRanks, type Embeddings } from './search/embeddings.ts'
import { after, Indexing } from './indexing.ts'
import { foldName, pythonNames, serverAlias } from './signature/python-name.ts'
import { searchDocument } from './search/search-document.ts'
import { SearchIndex } from './search/search-index.ts'
import { serverMethod } from './server-methods.ts'
import { ServerRecord } from './server-record.ts'
import { offeringDoc, toolDoc, toolLine, type Detail, type ToolDoc } from './tool-doc.ts'

export interface ListedTools {
  tools: UpstreamTool[]
  instructions?: string
}

export interface CatalogOptions {
  definitions: readonly ServerDefinition[]
  /** Ask a server, starting it if need be. */
  listTools: (server: string, signal: AbortSignal) => Promise<ListedTools>
  /** Ask a server that was just listed what it offers beside tools. Whatever goes wrong is its own affair. */
  listOfferings?: (server: string, signal: AbortSignal) => Promise<Offerings>
  /** Whether a server runs, for `servers()`. */
  state?: (server: string) => string
  /** Where to remember servers between runs. Without it nothing is written. */
  cacheDir?: string
  /** Record the shape of results of tools without an output schema; on unless false. */
  learnTypes?: boolean
  /** Search by meaning as well as by words. */
  embeddings?: Embeddings
  /** Longest wait of a search for servers that were never seen, in milliseconds. */
  firstIndexingWaitMs?: number
  log?: Log
  /** Milliseconds since 1970. */
  now?: () => number
}

/** One configured server, without starting it. */
export interface ServerEntry {
  name: string
  alias: string
  /** One line: the config's words, else the server's own. */
  description: string
  state: string
  /** How many tools it has; missing when it was never asked. */
  toolCount?: number
  /** Why it could not be indexed the last time. */
  problem?: string
}

export interface SearchOptions {
  limit?: number
  /** True names of the only servers to look in. */
  servers?: readonly string[]
  /** Rank the tools of `setOtherTools` with those of servers. */
  withOthers?: boolean
  detail?: Detail
}

const DEFAULT_LIMIT = 5
const MAX_LIMIT = 100
const FIRST_INDEXING_WAIT_MS = 5000
/** Resources and prompts come a moment after the tools; a server that keeps them to itself must not hold up its tools. */
const OFFERINGS_WAIT_MS = 2000
const OFFERINGS_LIMIT_MS = 60_000

export class Catalog {
  readonly #options: CatalogOptions
  readonly #records = new Map<string, ServerRecord>()
  readonly #aliases = new Map<string, string>()
  readonly #indexing: Indexing
  #index: SearchIndex<CatalogTool> | undefined
  #others: readonly CatalogTool[] = []
  #othersKey = '[]'

  constructor(options: CatalogOptions) {
    this.#options = options
    const { definitions, cacheDir, log } = options
    const cache = cacheDir === undefined ? undefined : new DiskCache(cacheDir, log)
    const aliases = pythonNames(
      definitions.map(({ name }) => name),
      'server',
      serverAlias,
    )
    for (const definition of definitions) {
      const alias = aliases.get(definition.name)!
      this.#aliases.set(alias, definition.name)
      this.#records.set(definition.name, new ServerRecord(definition, alias, cache, options.now ?? Date.now))
    }
    this.#indexing = new Indexing(async (record, signal) => {
      const { tools, instructions } = await options.listTools(record.name, signal)
      this.toolsChanged(record.name, tools, instructions)
      const { promise: late, cancel } = after(OFFERINGS_WAIT_MS)
      await Promise.race([this.readOfferings(record.name, signal), late]).finally(cancel)
    }, log)
  }

  /** All configured servers, in the order of their configuration. Starts nothing. */
  servers(): ServerEntry[] {
    return [...this.#records.values()].map((record) => {
      const count = record.tools?.length
      const problem = record.failure?.reason
      return {
        name: record.name,
        alias: record.alias,
        description: record.description,
        state: this.#options.state?.(record.name) ?? 'not-started',
        ...(count === undefined ? {} : { toolCount: count }),
        ...(problem === undefined ? {} : { problem }),
      }
    })
  }

  /** The true name of a server given by name or alias, or by either in another case; undefined when there is none. */
  resolveServer(nameOrAlias: string): string | undefined {
    if (this.#records.has(nameOrAlias)) return nameOrAlias
    const exact = this.#aliases.get(nameOrAlias) ?? this.#aliases.get(nameOrAlias.replace(/^mcp_/, ''))
    if (exact !== undefined) return exact
    const folded = foldName(nameOrAlias)
    const same = [...this.#records.keys()].filter((name) => foldName(name) === folded)
    return same.length === 1 ? same[0] : undefined
  }

  /**
   * The tools of a server: from memory or disk, else by asking it.
   * @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name, and what `listTools` throws
   */
  async tools(server: string, signal?: AbortSignal): Promise<CatalogTool[]> {
    const record = this.#record(server)
    if (record.tools === undefined || (record.isOld && record.mayRetry)) {
      try {
        await this.#indexing.now(record, signal)
      } catch (error) {
        // Old knowledge is better than none.
        if (record.tools === undefined || signal?.aborted === true) throw error
      }
    }
    return record.tools ?? []
  }

  /**
   * A tool by its true name, its Python name, or either in another case.
   * @throws BridgeError PROXY_TOOL_UNKNOWN with the tools that may be meant; `data.suggestions` lists their true names
   */
  async findTool(server: string, toolOrAlias: string, signal?: AbortSignal): Promise<CatalogTool> {
    const record = this.#record(server)
    let found = lookUp(record, await this.tools(server, signal), toolOrAlias)
    if (found === undefined && !record.isFresh) {
      // What is on disk may be older than the server.
      await this.#indexing.now(record, signal).catch(() => undefined)
      found = lookUp(record, record.tools ?? [], toolOrAlias)
    }
    if (found === undefined) throw this.#unknownTool(record, toolOrAlias)
    return found
  }

  /**
   * The arguments to send for a Python call, under their true names.
   * @throws BridgeError PROXY_ARGUMENTS_INVALID when the tool's own schema rules the call out
   */
  bind(
    tool: CatalogTool,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
  ): Record<string, unknown> {
    return bindArguments(tool, args, kwargs)
  }

  /**
   * The arguments of a call that is about to be sent. What only an old list of tools rules out is judged again by a new one.
   * @throws BridgeError as `bind` and `findTool` do
   */
  async bindCall(
    tool: CatalogTool,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const record = this.#record(tool.server)
    try {
      return bindArguments(tool, args, kwargs)
    } catch (error) {
      if (record.isFresh || tool.method !== undefined) throw error
      await this.#indexing.now(record, signal).catch(() => undefined)
      if (!record.isFresh) throw error
      return bindArguments(await this.findTool(tool.server, tool.name, signal), args, kwargs)
    }
  }

  /**
   * What is certainly wrong with a call that has been seen in a cell's source: PROXY_TOOL_UNKNOWN or PROXY_ARGUMENTS_INVALID.
   * Undefined when nothing is, or too little is known to tell. No server is started for an answer.
   */
  checkCall(server: string, call: SeenCall): BridgeError | undefined {
    const record = this.#record(server)
    const { tools } = record
    if (tools === undefined || !record.isTrustworthy) return undefined
    const tool = lookUp(record, tools, call.tool)
    const wrong = tool === undefined ? this.#unknownTool(record, call.tool) : checkArguments(tool, call, this)
    // It is no use to be told the same thing for ever by a list that has become wrong.
    if (wrong !== undefined && !record.isFresh && record.mayRetry) this.#indexing.now(record).catch(() => undefined)
    return wrong
  }

  /** A prompt of a server, if it is known, with a signature of its arguments. */
  findPrompt(server: string, name: string): CatalogOffering | undefined {
    return this.#record(server).offerings.find(({ kind, target }) => kind === 'prompt' && target === name)
  }

  /** Docs of a server's tools, or of one of them. @throws BridgeError as `tools` and `findTool` do */
  async docs(
    server: string,
    { tool, detail = 'summary' }: { tool?: string; detail?: Detail } = {},
    signal?: AbortSignal,
  ): Promise<ToolDoc[]> {
    const tools = tool === undefined ? await this.tools(server, signal) : [await this.findTool(server, tool, signal)]
    return tools.map((one) => this.#doc(one, detail))
  }

  /**
   * The tools that fit a query best, best first; never none while any are known. Servers that were never seen are indexed first,
   * for as long as that takes or `firstIndexingWaitMs`; the rest of them go on in the background.
   */
  async search(query: string, options: SearchOptions = {}, signal?: AbortSignal): Promise<ToolDoc[]> {
    const { servers, withOthers = false, detail = 'summary' } = options
    const limit = Math.min(MAX_LIMIT, Math.max(1, Math.trunc(options.limit ?? DEFAULT_LIMIT)))
    const records = servers === undefined ? [...this.#records.values()] : servers.map((name) => this.#record(name))
    const waitMs = this.#options.firstIndexingWaitMs ?? FIRST_INDEXING_WAIT_MS
    await this.#indexing.inBackground(records, waitMs, signal)
    const within = new Set(records.map((record) => record.name))
    const others = new Set(withOthers ? this.#others : [])
    const accepts = (tool: CatalogTool) => within.has(tool.server) || others.has(tool)
    const tools = await this.#find(query, limit, (tool) => !isOffering(tool) && accepts(tool), signal)
    const found = this.#withOfferings(query, limit, tools, within)
    return found.map((tool) => this.#doc(tool, detail))
  }

  /** What is found beside the tools of servers, when a search asks for it: functions that were saved. */
  setOtherTools(tools: readonly CatalogTool[]): void {
    const key = JSON.stringify(tools.map(({ server, name, definition }) => [server, name, definition.description]))
    if (key === this.#othersKey) return
    this.#othersKey = key
    this.#others = tools
    this.#index = undefined
  }

  /** Index all servers that were never seen, a few at a time, and wait for the end of it. Failures are in `servers()`. */
  async indexAll(signal?: AbortSignal): Promise<void> {
    await this.#indexing.inBackground([...this.#records.values()], undefined, signal)
  }

  /** The `await mcp_…` line of a tool. */
  line(tool: CatalogTool, detail: Detail = 'summary'): string {
    return toolLine(tool, detail, this.#records.get(tool.server)?.learnedShape(tool.name))
  }

  /** Note the shape of a result, never its values. */
  learn(server: string, tool: string, result: ToolResult): void {
    if (this.#options.learnTypes !== false) this.#records.get(server)?.learn(tool, result)
  }

  /** A server was read: on connecting, or because it said that its tools changed. */
  toolsChanged(server: string, tools: readonly UpstreamTool[], instructions: string | undefined): void {
    const record = this.#records.get(server)
    if (record === undefined) return
    const isNew = record.tools === undefined
    if (!record.update(tools, instructions)) return
    if (isNew && this.#index !== undefined) addTo(this.#index, record)
    else this.#index = undefined
  }

  /** Ask a server that runs what it offers beside tools. Never rejects: what was known before stays known. */
  async readOfferings(server: string, signal: AbortSignal = AbortSignal.timeout(OFFERINGS_LIMIT_MS)): Promise<void> {
    const offerings = await this.#options.listOfferings?.(server, signal).catch(() => undefined)
    if (offerings) this.offeringsChanged(server, offerings)
  }

  /** A server was asked what it offers beside tools. */
  offeringsChanged(server: string, offerings: Offerings): void {
    const record = this.#records.get(server)
    if (record === undefined) return
    const isNew = record.offerings.length === 0
    if (!record.updateOfferings(offerings)) return
    if (isNew && this.#index !== undefined) addAll(this.#index, record.offerings)
    else this.#index = undefined
  }

  /** Write what is not yet written, and stop indexing. */
  close(): void {
    this.#indexing.close()
    for (const record of this.#records.values()) record.flush()
  }

  async #find(
    query: string,
    limit: number,
    accepts: (tool: CatalogTool) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<CatalogTool[]> {
    const { embeddings } = this.#options
    const index = this.#searchIndex()
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
  #withOfferings(query: string, limit: number, tools: CatalogTool[], within: ReadonlySet<string>): CatalogTool[] {
    const servers = [...within].filter((name) => this.#record(name).offerings.length > 0)
    if (servers.length === 0) return tools
    const index = this.#searchIndex()
    const most = Math.max(Math.ceil(limit / 3), limit - tools.length)
    const offered = index.matches(query, most, (tool) => isOffering(tool) && within.has(tool.server))
    const scores = new Map(
      index.matches(query, limit * 2, (tool) => tools.includes(tool)).map((hit) => [hit.item, hit.score]),
    )
    const found: CatalogTool[] = []
    for (const tool of tools) {
      // What was found by its meaning alone keeps its place.
      const score = scores.get(tool) ?? (this.#options.embeddings ? Infinity : 0)
      while (offered[0] !== undefined && offered[0].score > score) found.push(offered.shift()!.item)
      found.push(tool)
    }
    return [...found, ...offered.map(({ item }) => item)].slice(0, limit)
  }

  #searchIndex(): SearchIndex<CatalogTool> {
    if (this.#index === undefined) {
      this.#index = new SearchIndex()
      for (const record of this.#records.values()) addTo(this.#index, record)
      for (const tool of this.#others) this.#index.add(tool, searchDocument(tool))
    }
    return this.#index
  }

  #doc(tool: CatalogTool, detail: Detail): ToolDoc {
    if (isOffering(tool)) {
      const record = this.#record(tool.server)
      const isTaken = lookUp(record, record.tools ?? [], tool.alias)?.method === undefined
      return offeringDoc(tool, detail, isTaken ? `_${tool.alias}` : tool.alias)
    }
    return toolDoc(tool, detail, this.#records.get(tool.server)?.learnedShape(tool.name))
  }

  #record(server: string): ServerRecord {
    const record = this.#records.get(server)
    if (record === undefined) throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${server}' is not available`)
    return record
  }

  #unknownTool(record: ServerRecord, wrong: string): BridgeError {
    const tools = record.tools ?? []
    const near = didYouMean(
      wrong,
      tools.map((tool) => tool.alias),
    )
    const isToolOfServer = (tool: CatalogTool) => tool.server === record.name && !isOffering(tool)
    const found = this.#searchIndex().search(wrong, 3, isToolOfServer)
    const meant = [
      ...new Set([
        ...near.map((alias) => tools.find((tool) => tool.alias === alias)!),
        ...found.map(({ item }) => item),
      ]),
    ]
    const best = meant.slice(0, 3)
    const hint =
      best.length === 0
        ? 'The server has no tools.'
        : `Did you mean ${best.map((tool) => tool.alias).join(' or ')}? ${this.line(best[0]!)}`
    return new BridgeError('PROXY_TOOL_UNKNOWN', `Server '${record.name}' has no tool '${wrong.slice(0, 200)}'`, {
      hint,
      data: { server: record.name, suggestions: best.map((tool) => tool.name) },
    })
  }
}

function addTo(index: SearchIndex<CatalogTool>, record: ServerRecord): void {
  addAll(index, record.tools ?? [])
  addAll(index, record.offerings)
}

function addAll(index: SearchIndex<CatalogTool>, tools: readonly CatalogTool[]): void {
  for (const tool of tools) index.add(tool, searchDocument(tool))
}

function isOffering(tool: CatalogTool): tool is CatalogOffering {
  return tool instanceof CatalogOffering
}

/** A tool by its names; else what any server can be asked by this one. With a `_` in front that comes before a tool of a similar name. */
function lookUp(record: ServerRecord, tools: readonly CatalogTool[], name: string): CatalogTool | undefined {
  const exact = tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.alias === name)
  if (exact !== undefined) return exact
  const method = serverMethod(record.name, record.alias, name)
  if (method !== undefined && name.startsWith('_')) return method
  const folded = foldName(name)
  const same = tools.filter((tool) => foldName(tool.name) === folded)
  return same.length === 1 ? same[0] : method
}
