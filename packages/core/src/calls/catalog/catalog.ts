// All known servers and their tools: from memory, from their books, or, as a last resort, by asking the server.
// It never starts a server itself (`listTools` does), and answers everything but a first listing without one.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BridgeError } from '../../errors.ts'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { pauses, withTimeout } from '../../util/async/wait.ts'
import type { ToolResult, UpstreamTool } from '../../upstream/upstream.ts'
import { bindArguments, type BindOptions } from './arguments/bind.ts'
import type { Offerings } from './model/catalog-offering.ts'
import type {
  CatalogOptions,
  KnownFacts,
  ListedTools,
  SearchOptions,
  KnownServer,
  Unsearched,
} from './catalog-options.ts'
import type { CatalogTool } from './model/catalog-tool.ts'
import { type DocOptions, ToolDocs } from './tool-docs.ts'
import { checkArguments, type SeenCall } from './arguments/seen-call.ts'
import { createSearch, type Reason, search, type ToolSearch, type Wordings } from './search-part.ts'
import { Indexing, serverError } from './indexing.ts'
import { lookUp, unknownTool } from './look-up.ts'
import { ServerRecord } from './server-record.ts'
import { ServerRecords } from './server-records.ts'
import { toolbookOf } from './toolbook.ts'
import { definitionKey } from './model/identity.ts'
import type { Shapes } from './model/shape.ts'
import { type ToolDoc } from './arguments/tool-doc.ts'

const FIRST_INDEXING_WAIT_MS = 3000
/** Offerings are listed after the tools: a server that does not answer for them must not delay its tools. */
const OFFERINGS_WAIT_MS = 2000
const OFFERINGS_LIMIT_MS = 60_000
/** A list of this age is not read again for one more call with wrong arguments. */
const NEW_MS = 2_000
/** How long a cell waits for a server that is asked whether its tools are still those that are known. */
const CHECK_WAIT_MS = 5_000

export type ServerDetails = ReturnType<Catalog['details']>

export class Catalog {
  readonly #options: CatalogOptions
  readonly #records = new ServerRecords()
  readonly #indexing: Indexing
  readonly #docs: ToolDocs
  /** Undefined before the first search. */
  #search: ToolSearch | undefined
  /** Called when the tools of a server, or the servers, are others than before. */
  readonly onChange = new Set<() => void>()

  constructor(options: CatalogOptions) {
    this.#options = options
    const { definitions, log } = options
    this.#docs = new ToolDocs(this.#records.byName, options.accessOf)
    this.redefine(definitions)
    this.#indexing = new Indexing(
      {
        read: async (record, signal, again) => {
          const listed = await options.listTools(record.name, signal, again)
          // Otherwise they are those of a server whose definition has changed meanwhile.
          if (!this.#isCurrent(record)) return
          this.toolsChanged(record.name, listed)
          await withTimeout(this.readOfferings(record.name, signal), OFFERINGS_WAIT_MS, () => {})
        },
        isInstalling: (server) => options.state?.(server) === 'installing',
        isOutdated: (server) => options.toolChanges?.(server) === 'unread',
      },
      log,
    )
  }

  /** Applies a new list of servers. Knowledge of unchanged servers is kept. */
  redefine(definitions: readonly ServerDefinition[]): void {
    const { now = Date.now, startInputs, home = '', store, log, abilities = () => '' } = this.#options
    this.#records.redefine(definitions, (definition, alias) => {
      const inputs = () => startInputs?.(definition)
      const isShown = (tool: CatalogTool) => this.#docs.isShown(tool)
      const book = toolbookOf(store, definitionKey(definition), log)
      return new ServerRecord(definition, alias, { book, abilities, now, inputs, isShown, home })
    })
    this.#search?.forget()
    for (const told of this.onChange) told()
  }

  /** Reads the cache of all servers step by step, so that no later request has to wait for all of it. */
  async readAhead(): Promise<void> {
    for (const record of this.#records.byName.values()) {
      void record.tools
      await nextTurn()
    }
    await (await search.ifHere())?.readAhead()
  }

  /** Lists servers that were never listed, in the background, so that the first search finds their tools. */
  indexAhead(): void {
    this.#indexing.inBackground([...this.#records.byName.values()], 0).catch(() => {})
  }

  /** All configured servers, in configuration order. Starts nothing. */
  servers(): KnownServer[] {
    return [...this.#records.byName.values()].map((record) => this.#entry(record))
  }

  /** What is known of a server. Starts nothing. @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name */
  of(server: string): KnownFacts {
    return this.#records.of(server)
  }

  /** Those of `servers` whose tools are unknown, so that no search finds them, and why. */
  unsearched(servers: Iterable<string>): Unsearched[] {
    const records = [...servers].map((server) => this.#records.of(server))
    const unknown = records.filter((record) => record.tools === undefined)
    return unknown.map(({ name, failure }) => ({
      name,
      reason: failure?.reason ?? this.#pendingReason(name),
      isBroken: failure !== undefined,
    }))
  }

  #pendingReason(server: string): string {
    const state = this.#options.state?.(server)
    if (state === 'installing') return 'it is being installed'
    return state === 'running' ? 'it has not listed its tools yet' : 'it is still starting'
  }

  /** The true name of a server given by name or alias, in any case; undefined when no server has it. */
  resolveServer(nameOrAlias: string): string | undefined {
    return this.#records.resolve(nameOrAlias)
  }

  /**
   * Returns the tools of a server: from memory or disk, otherwise by asking the server.
   * @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name, and what `listTools` throws
   */
  async tools(server: string, signal?: AbortSignal): Promise<CatalogTool[]> {
    const record = this.#records.of(server)
    if (record.tools === undefined || (record.isOld && record.mayRetry)) {
      try {
        await this.#indexing.now(record, signal)
      } catch (error) {
        // An outdated list is better than none.
        const isNeeded = record.tools === undefined && this.#isCurrent(record)
        if (isNeeded || signal?.aborted === true) throw error
      }
    }
    if (!this.#isCurrent(record)) return this.tools(server, signal)
    return record.tools ?? []
  }

  #isCurrent(record: ServerRecord): boolean {
    return this.#records.byName.get(record.name) === record
  }

  /** The tools that are not denied. @throws BridgeError as `tools` does */
  async shownTools(server: string, signal?: AbortSignal): Promise<CatalogTool[]> {
    return (await this.tools(server, signal)).filter((tool) => this.#docs.isShown(tool))
  }

  /** Those of them that are known now, however old. Starts nothing. */
  shownNow(server: string): CatalogTool[] {
    return (this.#records.of(server).tools ?? []).filter((tool) => this.#docs.isShown(tool))
  }

  /** The tool with this name according to current knowledge, however old. Starts nothing. */
  seenTool(server: string, toolOrAlias: string): CatalogTool | undefined {
    const record = this.#records.of(server)
    return record.tools && lookUp(record, toolOrAlias)
  }

  /** The tool that `findTool` finds, if no request to the server is needed. */
  knownTool(server: string, toolOrAlias: string): CatalogTool | undefined {
    const record = this.#records.of(server)
    return record.isOld ? undefined : record.named(toolOrAlias)
  }

  /**
   * Finds a tool by its true or Python name, in any case. The server is asked before a tool is unknown.
   * @throws BridgeError PROXY_TOOL_UNKNOWN with similar tools (`data.suggestions`), and what `listTools` throws
   */
  async findTool(server: string, toolOrAlias: string, signal?: AbortSignal): Promise<CatalogTool> {
    const listedBefore = this.#records.of(server).fetchedAt
    await this.tools(server, signal)
    const record = this.#records.of(server)
    let found = lookUp(record, toolOrAlias)
    if (found === undefined && record.fetchedAt === listedBefore) {
      await this.#indexing.now(record, signal, true)
      found = lookUp(record, toolOrAlias)
    }
    if (found === undefined) throw await this.#unknownTool(record, toolOrAlias)
    return found
  }

  /**
   * Binds the arguments of a call to be sent. A refusal is checked against a list of tools that was read just now.
   * @throws BridgeError as `bindArguments` and `findTool` do
   */
  async bindCall(
    tool: CatalogTool,
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
    options: BindOptions = {},
    signal?: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const record = this.#records.of(tool.server)
    try {
      return bindArguments(tool, args, kwargs, options)
    } catch (error) {
      const isNew = record.isFresh && (this.#options.now ?? Date.now)() - (record.fetchedAt ?? 0) < NEW_MS
      if (isNew || tool.method !== undefined) throw error
      await this.#indexing.now(record, signal, true).catch(() => undefined)
      if (!record.isFresh) throw error
      return bindArguments(await this.findTool(tool.server, tool.name, signal), args, kwargs, options)
    }
  }

  /**
   * Returns PROXY_TOOL_UNKNOWN or PROXY_ARGUMENTS_INVALID for a call in a cell's source that is certainly wrong.
   * Undefined when nothing is wrong or too little is known. Before it says that something is wrong, it asks the server.
   */
  async checkCall(server: string, call: SeenCall): Promise<BridgeError | undefined> {
    const record = this.#records.of(server)
    if (record.tools === undefined || !record.isTrustworthy) return undefined
    const problem = () => {
      const tool = lookUp(record, call.tool)
      return tool === undefined ? this.#unknownTool(record, call.tool) : checkArguments(tool, call, record)
    }
    const found = await problem()
    if (found === undefined || lookUp(record, call.tool)?.method !== undefined) return found
    const asked = this.#indexing.now(record, undefined, true).then(
      () => true,
      () => false,
    )
    const hasAnswered = await withTimeout(asked, CHECK_WAIT_MS, () => false)
    if (!hasAnswered && !record.isFresh) return undefined
    // The cell itself may make the server offer the tool.
    const hasChanged = (this.#options.toolChanges?.(server) ?? 'none') !== 'none'
    return hasChanged && lookUp(record, call.tool) === undefined ? undefined : problem()
  }

  /** Docs of a server's tools, or of the named ones. @throws BridgeError as `tools` and `findTool` do */
  async docs(
    server: string,
    { tools: names, ...options }: { tools?: readonly string[] } & DocOptions = {},
    signal?: AbortSignal,
  ): Promise<ToolDoc[]> {
    const tools =
      names === undefined
        ? await this.shownTools(server, signal)
        : await Promise.all(names.map((name) => this.#findShown(server, name, signal)))
    const docs: ToolDoc[] = []
    const pause = pauses()
    for (const tool of tools) {
      docs.push(this.#docs.doc(tool, options))
      await pause()
    }
    return docs
  }

  /**
   * Returns the tools that fit a need best, best first; at least one when any are known. Servers that were never listed
   * are listed first, for a few seconds.
   */
  async search(query: Wordings, options: SearchOptions = {}, signal?: AbortSignal): Promise<ToolDoc[]> {
    return (await this.#find(query, options, signal)).docs
  }

  /** Like `search`, with the reason for each rank. */
  async searchWithReasons(query: Wordings, options: SearchOptions = {}): Promise<{ doc: ToolDoc; reason?: Reason }[]> {
    const { docs, reasons } = await this.#find(query, options)
    const found = reasons()
    return docs.map((doc, at) => ({ doc, ...(found[at] && { reason: found[at] }) }))
  }

  async #find(query: Wordings, options: SearchOptions, signal?: AbortSignal) {
    const { servers } = options
    const records =
      servers === undefined ? [...this.#records.byName.values()] : servers.map((name) => this.#records.of(name))
    const waitMs = this.#options.firstIndexingWaitMs ?? FIRST_INDEXING_WAIT_MS
    await this.#indexing.inBackground(records, waitMs, signal)
    const { tools, weak, reasons } = await (await this.#searcher()).find(query, records, options)
    return { docs: tools.map((tool) => this.#docs.doc(tool, options, weak)), reasons }
  }

  async #searcher(): Promise<ToolSearch> {
    const made = this.#search ?? (await createSearch(this.#records.byName, (tool) => this.#docs.isShown(tool)))
    // Another search may have done this first.
    return (this.#search ??= made)
  }

  /**
   * Lists servers now, whatever is known of them and however they failed before. Failures are in `servers()`.
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

  /** What lists of servers show of one. @throws BridgeError as `of` does */
  details(server: string) {
    const record = this.#records.of(server)
    const { about, tools = [], skipped, instructions, fetchedAt, failure, lastError } = record
    return { ...this.#entry(record), about, tools, skipped, instructions, fetchedAt, failure, lastError }
  }

  /** The `await mcp_…` line of a tool, for the owner of the bridge. */
  line(tool: CatalogTool): string {
    return this.#docs.line(tool, { resultsOf: { user: undefined } })
  }

  /** Records the type of a result. @param user whose call it was; missing for the owner of the bridge */
  learn(shapes: Shapes, server: string, tool: string, result: ToolResult, user?: string): void {
    this.#records.byName.get(server)?.learn(shapes, tool, result, user)
  }

  /** A server's tools were read: on connecting, or after it announced a change. */
  toolsChanged(server: string, { tools, instructions, skipped }: ListedTools): void {
    const record = this.#records.byName.get(server)
    if (record === undefined) return
    const isNew = record.tools === undefined
    if (!record.update(tools, instructions, skipped)) return
    if (isNew) this.#search?.add([...(record.tools ?? []), ...record.offerings])
    else this.#search?.forget()
    for (const told of this.onChange) told()
  }

  /** A server failed to start for a call, or exited by itself. */
  serverErred(server: string, error: unknown): void {
    this.#records.byName.get(server)?.erred(serverError(error))
  }

  /** Lists resources and prompts of a running server. Never rejects: on failure the previous knowledge is kept. */
  async readOfferings(server: string, signal: AbortSignal = AbortSignal.timeout(OFFERINGS_LIMIT_MS)): Promise<void> {
    const offerings = await this.#options.listOfferings?.(server, signal).catch(() => undefined)
    if (offerings) this.offeringsChanged(server, offerings)
  }

  offeringsChanged(server: string, offerings: Offerings): void {
    const record = this.#records.byName.get(server)
    if (record === undefined) return
    const isNew = record.offerings.length === 0
    if (!record.updateOfferings(offerings)) return
    if (isNew) this.#search?.add(record.offerings)
    else this.#search?.forget()
  }

  stopIndexing(): void {
    this.#indexing.close()
  }

  async close(): Promise<void> {
    this.stopIndexing()
    await Promise.all(Array.from(this.#records.byName.values(), (record) => record.flush()))
  }

  /** Reads the books of all servers, where that takes requests. Never rejects. */
  async ready(): Promise<void> {
    const { store, log, definitions } = this.#options
    await Promise.all(definitions.map((one) => toolbookOf(store, definitionKey(one), log).ready()))
  }

  /**
   * Reads the tools of a server, and compares them with what they are pinned to: rules are applied to them.
   * @returns undefined if nothing is left to do, as before almost every call
   */
  compared(server: string, call: { readonly signal: AbortSignal }): Promise<void> | undefined {
    const record = this.#records.of(server)
    if (record.isFresh) return record.settled()
    return this.#options.listTools(server, call.signal, false).then((listed) => {
      this.toolsChanged(server, listed)
      return this.#records.of(server).settled()
    })
  }

  async accept(server: string, tools: readonly UpstreamTool[]): Promise<void> {
    await this.#records.of(server).accept(tools)
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

  async #findShown(server: string, name: string, signal: AbortSignal | undefined): Promise<CatalogTool> {
    const tool = await this.findTool(server, name, signal)
    if (this.#docs.isShown(tool)) return tool
    throw new BridgeError('PERMISSION_DENIED', `The tool '${tool.name}' of server '${server}' is denied by a rule`)
  }

  async #unknownTool(record: ServerRecord, wrong: string): Promise<BridgeError> {
    const meant = await (await this.#searcher()).likeTool(record, wrong)
    const [best] = meant
    return unknownTool(record, wrong, meant, best && this.#docs.line(best))
  }
}
