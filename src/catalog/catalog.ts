// What is known of all servers and their tools: from memory, from disk, or, when there is no other way, by asking the server.
// It never starts a server itself — `listTools` does — and everything but a first listing is answered without one.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BridgeError } from '../errors.ts'
import type { Standing } from '../policy/policy.ts'
import type { ServerDefinition } from '../config/server-definition.ts'
import type { Log } from '../log.ts'
import { withTimeout } from '../process/wait.ts'
import type { ToolResult, UpstreamTool } from '../upstream/upstream.ts'
import { bindArguments } from './calls/bind.ts'
import type { CatalogOffering, Offerings } from './model/catalog-offering.ts'
import { CatalogSearch } from './catalog-search.ts'
import type { CatalogTool } from './model/catalog-tool.ts'
import { checkArguments, type SeenCall } from './calls/check-arguments.ts'
import type { Reason } from './search/search-index.ts'
import { DiskCache } from './disk-cache.ts'
import type { Embeddings } from './embeddings.ts'
import { Indexing, serverError } from './indexing.ts'
import type { KnownServer, ServerDetails, Unsearched } from './known-server.ts'
import { isOffering, lookUp, unknownTool } from './look-up.ts'
import { ServerRecord } from './server-record.ts'
import { ServerRecords } from './server-records.ts'
import type { SharedCatalog } from './shared-catalog.ts'
import { wordVectors } from './word-vectors-file.ts'
import { offeringDoc, toolDoc, toolLine, type Detail, type ToolDoc } from './calls/tool-doc.ts'

interface ListedTools {
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
  /** What is written there is also known to bridges on other machines. */
  shared?: Pick<SharedCatalog, 'push'> | undefined
  /** Record the shape of results of tools without an output schema; on unless false. */
  learnTypes?: boolean
  /** Search by meaning as well as by words. */
  embeddings?: Embeddings
  /** What the start of a server depends on, see start-inputs.ts. Missing means that failures are remembered by the definition alone. */
  startInputs?: (definition: ServerDefinition) => string
  /** What the rules say of a tool: those that are denied are not shown, and those that ask are marked. */
  standing?: (tool: CatalogTool) => Standing
  /** Longest wait of a search for servers that were never seen, in milliseconds. */
  firstIndexingWaitMs?: number
  log?: Log
  /** Milliseconds since 1970. */
  now?: () => number
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
  readonly #records = new ServerRecords()
  readonly #indexing: Indexing
  readonly #search: CatalogSearch
  readonly #cache: DiskCache | undefined

  constructor(options: CatalogOptions) {
    this.#options = options
    const { definitions, cacheDir, log, shared } = options
    this.#search = new CatalogSearch(this.#records.byName, options.embeddings, (tool) => this.#isShown(tool))
    this.#cache =
      cacheDir === undefined
        ? undefined
        : new DiskCache(cacheDir, log, shared && ((key, entry) => shared.push(key, entry)))
    this.redefine(definitions)
    this.#indexing = new Indexing(async (record, signal) => {
      const { tools, instructions } = await options.listTools(record.name, signal)
      this.toolsChanged(record.name, tools, instructions)
      await withTimeout(this.readOfferings(record.name, signal), OFFERINGS_WAIT_MS, () => {})
    }, log)
  }

  /** Take over another list of servers. What is known of those that are as they were stays known. */
  redefine(definitions: readonly ServerDefinition[]): void {
    const { now = Date.now, startInputs } = this.#options
    this.#records.redefine(definitions, (definition, alias) => {
      const inputs = () => startInputs?.(definition)
      return new ServerRecord(definition, alias, this.#cache, now, inputs, (tool) => this.#isShown(tool))
    })
    this.#search.forget()
  }

  /** Read what is known of every server, a little at a time, so that nothing has to wait for all of it later. */
  async readAhead(): Promise<void> {
    for (const record of this.#records.byName.values()) {
      void record.tools
      await nextTurn()
    }
    const vectors = wordVectors()
    do await nextTurn()
    while (vectors?.stemAhead())
  }

  /** All configured servers, in the order of their configuration. Starts nothing. */
  servers(): KnownServer[] {
    return [...this.#records.byName.values()].map((record) => this.#entry(record))
  }

  /** The tools of a server as far as they are known. Starts nothing. */
  knownTools(server: string): readonly CatalogTool[] {
    return this.#records.of(server).tools ?? []
  }

  /** What the configuration itself says of a server, in one line; may be empty. */
  configuredDescription(server: string): string {
    return this.#records.of(server).configuredDescription
  }

  /** The folders that a server of files was given. */
  roots(server: string): string[] {
    return this.#records.of(server).roots
  }

  /** Those of `servers` whose tools are not known, so that no search finds them, and why. */
  unsearched(servers: Iterable<string>): Unsearched[] {
    const records = [...servers].map((server) => this.#records.of(server))
    const unknown = records.filter((record) => record.tools === undefined)
    return unknown.map(({ name, failure }) => ({
      name,
      reason: failure?.reason ?? 'it has not answered yet',
      isBroken: failure !== undefined,
    }))
  }

  /** The true name of a server given by name or alias, or by either in another case; undefined when no server has it. */
  resolveServer(nameOrAlias: string): string | undefined {
    return this.#records.resolve(nameOrAlias)
  }

  /**
   * The tools of a server: from memory or disk, else by asking it.
   * @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name, and what `listTools` throws
   */
  async tools(server: string, signal?: AbortSignal): Promise<CatalogTool[]> {
    const record = this.#records.of(server)
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

  /** Those of them that are not denied. @throws BridgeError as `tools` does */
  async shownTools(server: string, signal?: AbortSignal): Promise<CatalogTool[]> {
    return (await this.tools(server, signal)).filter((tool) => this.#isShown(tool))
  }

  /** What a name stands for by what is known now, however old that is; nothing is started for an answer. */
  seenTool(server: string, toolOrAlias: string): CatalogTool | undefined {
    const record = this.#records.of(server)
    return record.tools && lookUp(record, toolOrAlias)
  }

  /** Were the server's tools read from it by this process? */
  isFresh(server: string): boolean {
    return this.#records.of(server).isFresh
  }

  /** The tool that `findTool` finds, where that need not ask the server. */
  knownTool(server: string, toolOrAlias: string): CatalogTool | undefined {
    const record = this.#records.of(server)
    return record.isOld ? undefined : record.named(toolOrAlias)
  }

  /**
   * A tool by its true name, its Python name, or either in another case.
   * @throws BridgeError PROXY_TOOL_UNKNOWN with the tools that may be meant; `data.suggestions` lists their true names
   */
  async findTool(server: string, toolOrAlias: string, signal?: AbortSignal): Promise<CatalogTool> {
    const record = this.#records.of(server)
    await this.tools(server, signal)
    let found = lookUp(record, toolOrAlias)
    if (found === undefined && !record.isFresh) {
      // What is on disk may be older than the server.
      await this.#indexing.now(record, signal).catch(() => undefined)
      found = lookUp(record, toolOrAlias)
    }
    if (found === undefined) throw this.#unknownTool(record, toolOrAlias)
    return found
  }

  /**
   * The arguments of a call that is about to be sent. What only an old list of tools rules out is judged again by a new one.
   * @throws BridgeError as `bindArguments` and `findTool` do
   */
  async bindCall(
    tool: CatalogTool,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const record = this.#records.of(tool.server)
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
    const record = this.#records.of(server)
    const { tools } = record
    if (tools === undefined || !record.isTrustworthy) return undefined
    const tool = lookUp(record, call.tool)
    const wrong = tool === undefined ? this.#unknownTool(record, call.tool) : checkArguments(tool, call, this)
    // An outdated list must not refuse the same call for ever.
    if (wrong !== undefined && !record.isFresh && record.mayRetry) this.#indexing.now(record).catch(() => undefined)
    return wrong
  }

  /** A prompt of a server, if it is known, with a signature of its arguments. */
  findPrompt(server: string, name: string): CatalogOffering | undefined {
    return this.#records.of(server).offerings.find(({ kind, target }) => kind === 'prompt' && target === name)
  }

  /** Docs of a server's tools, or of those named. @throws BridgeError as `tools` and `findTool` do */
  async docs(
    server: string,
    { tools: names, detail = 'summary' }: { tools?: readonly string[]; detail?: Detail } = {},
    signal?: AbortSignal,
  ): Promise<ToolDoc[]> {
    const tools =
      names === undefined
        ? await this.shownTools(server, signal)
        : await Promise.all(names.map((name) => this.#findShown(server, name, signal)))
    return tools.map((one) => this.#doc(one, detail))
  }

  /**
   * The tools that fit a query best, best first; never none while any are known. Servers that were never seen are indexed first,
   * for as long as that takes or `firstIndexingWaitMs`; the rest of them go on in the background.
   */
  async search(query: string, options: SearchOptions = {}, signal?: AbortSignal): Promise<ToolDoc[]> {
    const { detail = 'summary' } = options
    const found = await this.#find(query, options, signal)
    return found.map((tool) => this.#doc(tool, detail))
  }

  /** As `search`, with why each ranks where it does. */
  async searchWithReasons(query: string, options: SearchOptions = {}): Promise<{ doc: ToolDoc; reason?: Reason }[]> {
    const found = await this.#find(query, options, undefined)
    const reasons = await this.#search.reasons(query, found)
    return found.map((tool, at) => {
      const reason = reasons[at]
      return { doc: this.#doc(tool, options.detail ?? 'summary'), ...(reason && { reason }) }
    })
  }

  async #find(query: string, options: SearchOptions, signal: AbortSignal | undefined): Promise<CatalogTool[]> {
    const { servers, withOthers = false } = options
    const limit = Math.min(MAX_LIMIT, Math.max(1, Math.trunc(options.limit ?? DEFAULT_LIMIT)))
    const records =
      servers === undefined ? [...this.#records.byName.values()] : servers.map((name) => this.#records.of(name))
    const waitMs = this.#options.firstIndexingWaitMs ?? FIRST_INDEXING_WAIT_MS
    await this.#indexing.inBackground(records, waitMs, signal)
    return this.#search.find(query, { limit, records, withOthers }, signal)
  }

  /** What is found beside the tools of servers, when a search asks for it: functions that were saved. */
  setOtherTools(tools: readonly CatalogTool[]): void {
    this.#search.setOtherTools(tools)
  }

  /**
   * Ask servers for their tools now, whatever is known of them and however they failed before. Failures are in `servers()`.
   * @throws BridgeError CANCELLED when the catalog is closed, PROXY_SERVER_UNAVAILABLE for an unknown name
   */
  async index(
    servers: readonly string[],
    { onStart, onEnd }: { onStart?: (server: string) => void; onEnd?: (entry: KnownServer) => void } = {},
  ): Promise<void> {
    await this.#indexing.everyOne(
      servers.map((name) => this.#records.of(name)),
      { onStart: ({ name }) => onStart?.(name), onEnd: (record) => onEnd?.(this.#entry(record)) },
    )
  }

  /** All that is known of one server. Starts nothing. */
  details(server: string): ServerDetails {
    const record = this.#records.of(server)
    const { tools, instructions, fetchedAt, failure, lastError } = record
    return { ...this.#entry(record), tools: tools ?? [], instructions, fetchedAt, failure, lastError }
  }

  /** The `await mcp_…` line of a tool. */
  line(tool: CatalogTool, detail: Detail = 'summary'): string {
    return toolLine(tool, detail, this.#records.byName.get(tool.server)?.learnedShape(tool.name), this.#asks(tool))
  }

  /** Note the shape of a result, never its values. */
  learn(server: string, tool: string, result: ToolResult): void {
    if (this.#options.learnTypes !== false) this.#records.byName.get(server)?.learn(tool, result)
  }

  /** A server was read: on connecting, or because it said that its tools changed. */
  toolsChanged(server: string, tools: readonly UpstreamTool[], instructions: string | undefined): void {
    const record = this.#records.byName.get(server)
    if (record === undefined) return
    const isNew = record.tools === undefined
    if (!record.update(tools, instructions)) return
    if (isNew) this.#search.add([...(record.tools ?? []), ...record.offerings])
    else this.#search.forget()
  }

  /** A server could not be started for a call, or ended by itself. */
  serverErred(server: string, error: unknown): void {
    this.#records.byName.get(server)?.erred(serverError(error))
  }

  /** Ask a server that runs what it offers beside tools. Never rejects: what was known before stays known. */
  async readOfferings(server: string, signal: AbortSignal = AbortSignal.timeout(OFFERINGS_LIMIT_MS)): Promise<void> {
    const offerings = await this.#options.listOfferings?.(server, signal).catch(() => undefined)
    if (offerings) this.offeringsChanged(server, offerings)
  }

  /** A server was asked what it offers beside tools. */
  offeringsChanged(server: string, offerings: Offerings): void {
    const record = this.#records.byName.get(server)
    if (record === undefined) return
    const isNew = record.offerings.length === 0
    if (!record.updateOfferings(offerings)) return
    if (isNew) this.#search.add(record.offerings)
    else this.#search.forget()
  }

  /** Stop asking servers for their tools. */
  stopIndexing(): void {
    this.#indexing.close()
  }

  /** Write what is not yet written, and stop indexing. */
  close(): void {
    this.stopIndexing()
    for (const record of this.#records.byName.values()) record.flush()
  }

  #entry(record: ServerRecord): KnownServer {
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
  }

  #doc(tool: CatalogTool, detail: Detail): ToolDoc {
    if (isOffering(tool)) {
      const record = this.#records.of(tool.server)
      const isTaken = lookUp(record, tool.alias)?.method === undefined
      return offeringDoc(tool, detail, isTaken ? `_${tool.alias}` : tool.alias)
    }
    return toolDoc(tool, detail, this.#records.byName.get(tool.server)?.learnedShape(tool.name), this.#asks(tool))
  }

  #asks(tool: CatalogTool): boolean {
    return this.#records.byName.has(tool.server) && this.#options.standing?.(tool) === 'asks'
  }

  /** Rules hide only tools of servers. */
  #isShown(tool: CatalogTool): boolean {
    return !this.#records.byName.has(tool.server) || this.#options.standing?.(tool) !== 'denied'
  }

  async #findShown(server: string, name: string, signal: AbortSignal | undefined): Promise<CatalogTool> {
    const tool = await this.findTool(server, name, signal)
    if (this.#isShown(tool)) return tool
    throw new BridgeError('PERMISSION_DENIED', `The tool '${tool.name}' of server '${server}' is denied by a rule`)
  }

  #unknownTool(record: ServerRecord, wrong: string): BridgeError {
    const meant = this.#search.likeTool(record, wrong)
    const [best] = meant
    return unknownTool(record.name, wrong, meant, best && this.line(best))
  }
}
