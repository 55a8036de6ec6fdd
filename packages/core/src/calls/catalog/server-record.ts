// One server as its tenant knows it: from its book, or as the tenant's own upstream has listed since.
import { isSameDefinition, trustRank } from '../../config/merge-definitions.ts'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { fileRoots } from '../../config/entries/file-roots.ts'
import { allowsTool, unmatchedNames } from '../../config/entries/tool-filter.ts'
import type { SkippedTool, ToolResult, UpstreamTool } from '../../upstream/upstream.ts'
import {
  catalogOfferings,
  keptPrompts,
  keptResources,
  type CatalogOffering,
  type Offerings,
} from './model/catalog-offering.ts'
import { catalogTools, type CatalogTool } from './model/catalog-tool.ts'
import { definitionKey } from './model/identity.ts'
import { changesIn, type Pins } from './model/pins.ts'
import type { Failure, LearnedType, Listing, ServerError, Toolbook } from './toolbook.ts'
import { shellWord } from '../../config/secrets/command-line.ts'
import { isRecord } from '../../util/json/json.ts'
import { readsFiles, type Shape, type Shapes } from './model/shape.ts'
import { promisesText } from './model/result-parts.ts'
import { oneLine } from '../../util/text/server-words.ts'
import { foldName } from '../../util/text/python-name.ts'
import { type Purpose, purposeText, serverPurpose, serverTopics } from './server-purpose.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Older lists are renewed at the next occasion, but still used if the server does not answer. */
const MAX_AGE_MS = 7 * DAY_MS
/** A list that was read again and stayed the same is saved this rarely, for its date. */
const SAVE_AGAIN_MS = 60 * 60 * 1000
/** A server that starts is asked again for a list that is older than this. */
const RECENT_MS = 60 * 60 * 1000
const DESCRIPTION_LIMIT = 160
const PURPOSE_LIMIT = 100
interface ServerOptions {
  book: Toolbook
  /** What the clients can be asked now: servers list other tools for clients that cannot be asked. */
  abilities: () => string
  /** Milliseconds since 1970. */
  now: () => number
  inputs: () => string | undefined
  /** Whether a tool may be named in the server's description. */
  isShown: (tool: CatalogTool) => boolean
  home: string
}

export class ServerRecord {
  readonly name: string
  readonly alias: string
  /** Whether this process has read the tools from the server. */
  isFresh = false
  readonly #definition: ServerDefinition
  readonly #options: ServerOptions
  readonly #book: Toolbook
  #listing: Listing | undefined
  #isOpened = false
  #configuredDescription: string | undefined
  #lastPurpose: { shown: readonly CatalogTool[]; purpose: Purpose } | undefined
  #tools: CatalogTool[] | undefined
  #named: Map<string, CatalogTool> | undefined
  #offerings: CatalogOffering[] | undefined
  /** By user and tool: what results of users other than the owner taught. It is not kept on disk. */
  readonly #ofUsers = new Map<string, Map<string, LearnedType>>()
  /** `fetchedAt` as this process has saved it. */
  #savedListing: number | undefined
  /** Tools that the server has listed in this process in another form than they are pinned to. */
  #changed: ReadonlySet<string> = new Set()

  constructor(definition: ServerDefinition, alias: string, options: ServerOptions) {
    this.name = definition.name
    this.alias = alias
    this.#definition = definition
    this.#options = options
    this.#book = options.book
  }

  /** Whether it is the record of this definition under this alias. */
  isOf(definition: ServerDefinition, alias: string): boolean {
    return alias === this.alias && isSameDefinition(definition, this.#definition)
  }

  /** Identifies its definition: see `definitionKey`. */
  get key(): string {
    return definitionKey(this.#definition)
  }

  /** The trust rank of its definition: see `trustRank`. */
  get rank(): number {
    return trustRank(this.#definition)
  }

  /** The tools that the definition allows and a model may call. Undefined until the server was ever listed. */
  get tools(): CatalogTool[] | undefined {
    if (this.#tools !== undefined) return this.#tools
    const allowed = this.#known?.tools.filter((tool) => this.#whyHidden(tool) === undefined)
    return (this.#tools = allowed && catalogTools(this.name, this.alias, allowed))
  }

  /** Entries of the server's list that no cell can call. */
  get skipped(): readonly SkippedTool[] {
    return this.#known?.skipped ?? []
  }

  /** Why a tool that the server lists is none of `tools`; undefined for a tool that it does not list. */
  whyLeftOut(name: string): string | undefined {
    const isMeant = (one: { name: string }): boolean => one.name === name || foldName(one.name) === foldName(name)
    const hidden = this.#known?.tools.find(isMeant)
    return this.skipped.find(isMeant)?.reason ?? (hidden && this.#whyHidden(hidden))
  }

  #whyHidden({ name, isOfApps }: UpstreamTool): string | undefined {
    if (isOfApps) return "only the server's own app may call it"
    return allowsTool(this.#definition, name) ? undefined : "its server's entry in the config file excludes it"
  }

  /** Names that its definition includes or excludes, and that no tool has. */
  get unmatchedNames(): string[] {
    const listed = [...this.#book.value.listings, ...(this.#known ? [this.#known] : [])].flatMap(({ tools }) => tools)
    return listed.length === 0
      ? []
      : unmatchedNames(
          this.#definition,
          listed.map(({ name }) => name),
        )
  }

  /** The latest definitions of the tools that the server has listed for any client. */
  get toolsOfAnyClient(): UpstreamTool[] {
    const listings = [...this.#book.value.listings, ...(this.isFresh ? [this.#known!] : [])]
    const latest = new Map(listings.flatMap(({ tools }) => tools.map((tool) => [tool.name, tool])))
    return [...latest.values()].filter((tool) => this.#whyHidden(tool) === undefined)
  }

  /** Finds a tool by its true name, otherwise by its Python name. */
  named(name: string): CatalogTool | undefined {
    if (this.#named === undefined) {
      const tools = (this.tools ?? []).toReversed()
      // Of two tools with the same name, the first one counts.
      const byAlias = tools.map((tool) => [tool.alias, tool] as const)
      this.#named = new Map([...byAlias, ...tools.map((tool) => [tool.name, tool] as const)])
    }
    return this.#named.get(name)
  }

  /** The last failure, unless its inputs have changed since. */
  get failure(): Failure | undefined {
    const { failure } = this.#book.value
    return failure && failure.inputs === this.#options.inputs() ? underName(failure, this.name) : undefined
  }

  /** The last failed start or unexpected exit, even if the server has worked since. */
  get lastError(): ServerError | undefined {
    const { lastError } = this.#book.value
    return lastError && underName(lastError, this.name)
  }

  /** The server's instructions; undefined when it has none. */
  get instructions(): string | undefined {
    return this.#known?.instructions
  }

  /** When the tools were read, in milliseconds since 1970. */
  get fetchedAt(): number | undefined {
    return this.#known?.fetchedAt
  }

  /** Known from long ago, or from what the server listed for clients that can be asked other things. */
  get isOld(): boolean {
    const { fetchedAt } = this
    if (this.isFresh || fetchedAt === undefined) return false
    return this.#options.now() - fetchedAt > MAX_AGE_MS || this.#isOfOthers
  }

  get #isOfOthers(): boolean {
    return this.#known?.abilities !== this.#options.abilities()
  }

  /** Read a short time ago, in this process or another one, for clients that can be asked the same. */
  get isRecent(): boolean {
    const { fetchedAt } = this
    return fetchedAt !== undefined && this.#options.now() - fetchedAt < RECENT_MS && !this.#isOfOthers
  }

  /** Whether a failed server may be listed again. Each failure in a row doubles the pause, from a minute to a day. */
  get mayRetry(): boolean {
    const { failure } = this
    if (failure === undefined) return true
    const pause = Math.min(DAY_MS, 60_000 * 2 ** Math.min(failure.count - 1, 20))
    const waited = this.#options.now() - failure.at
    // A clock that was set back must not extend the pause.
    return waited < 0 || waited >= pause
  }

  /** One line: from the configuration, otherwise from the server's instructions, otherwise from its tools. */
  get description(): string {
    const own = this.configuredDescription
    return own === '' ? purposeText(this.#purpose()) : own
  }

  /** The same without the number of the tools that rules allow. */
  get about(): string {
    const own = this.configuredDescription
    return own === '' ? this.#purpose().about : own
  }

  /** One line from the configuration; may be empty. */
  get configuredDescription(): string {
    return (this.#configuredDescription ??= oneLine(this.#definition.description, DESCRIPTION_LIMIT))
  }

  /** Made again only when the tools or the rules that hide them have changed: every cell asks for it. */
  #purpose(): Purpose {
    const shown = (this.tools ?? []).filter(this.#options.isShown)
    const last = this.#lastPurpose
    if (last?.shown.length === shown.length && shown.every((tool, index) => tool === last.shown[index]))
      return last.purpose
    const tools = shown.map(({ alias, description }) => ({ name: alias, description }))
    const purpose = serverPurpose(this.name, this.instructions, tools, PURPOSE_LIMIT)
    this.#lastPurpose = { shown, purpose }
    return purpose
  }

  /** What its tools are about, in a few words of their names; empty when they are not known. */
  topics(limit: number): string {
    const shown = (this.tools ?? []).filter(this.#options.isShown)
    return serverTopics(
      shown.map(({ alias }) => alias),
      limit,
    )
  }

  /** The folders that a file server serves. */
  get roots(): string[] {
    const isOfFiles = ({ name }: CatalogTool): boolean => /file|director|folder|note|repo/i.test(name)
    return this.tools?.some(isOfFiles) === false ? [] : fileRoots(this.#definition, this.#options.home)
  }

  get offerings(): CatalogOffering[] {
    this.#offerings ??= catalogOfferings(this.name, this.alias, this.#known ?? {})
    return this.#offerings
  }

  /** A known prompt, with a signature of its arguments. */
  prompt(name: string): CatalogOffering | undefined {
    return this.offerings.find(({ kind, target }) => kind === 'prompt' && target === name)
  }

  /** Whether known tools may be used to refuse a call. Not when they are so old that the server may have changed. */
  get isTrustworthy(): boolean {
    const { fetchedAt } = this
    return this.isFresh || (fetchedAt !== undefined && this.#options.now() - fetchedAt < DAY_MS && !this.#isOfOthers)
  }

  /** Stores the server's resources and prompts. @returns whether anything changed */
  updateOfferings({ resources, prompts }: Offerings): boolean {
    const known = this.#known
    if (!known) return false
    const before = JSON.stringify([known.resources ?? [], known.prompts ?? []])
    const now = {
      resources: resources ? keptResources(resources) : known.resources,
      prompts: prompts ? keptPrompts(prompts) : known.prompts,
    }
    if (before === JSON.stringify([now.resources ?? [], now.prompts ?? []])) return false
    this.#listing = { ...known, ...now }
    this.#offerings = undefined
    void this.#book.keepOfferings(known.abilities, now)
    return true
  }

  /** Stores the server's tools and instructions. @returns whether anything changed */
  update(listed: readonly UpstreamTool[], instructions?: string, skipped: readonly SkippedTool[] = []): boolean {
    const known = this.#known
    const tools = listed.filter((tool) => isRecord(tool) && typeof tool.name === 'string')
    const content = (one: Partial<Listing>) => JSON.stringify([one.tools, one.instructions ?? null, one.skipped ?? []])
    const now = { tools, instructions, skipped: [...skipped] }
    const isSame = known !== undefined && content(known) === content(now)
    this.isFresh = true
    const fetchedAt = this.#options.now()
    const abilities = this.#options.abilities()
    const isSaved =
      isSame &&
      this.#book.value.failure === undefined &&
      known.abilities === abilities &&
      Math.abs(fetchedAt - (this.#savedListing ?? -Infinity)) < SAVE_AGAIN_MS
    this.#listing = { ...known, ...(isSame ? known : now), abilities, fetchedAt }
    if (!isSame) {
      this.#tools = undefined
      this.#named = undefined
      this.#lastPurpose = undefined
      this.#forgetChanged()
    }
    if (!isSaved) {
      this.#savedListing = fetchedAt
      void this.#book.keepListing(this.#listing)
    }
    this.#compare()
    return !isSame
  }

  /** Whether the server has listed the tool in this process in another form than it is pinned to. */
  isChanged(tool: string): boolean {
    return this.#changed.has(tool)
  }

  /**
   * Resolves when what the server has listed is compared with what other bridges have pinned, and their users accepted.
   * @returns undefined if it is, and nothing has changed, as before almost every call
   */
  settled(): Promise<void> | undefined {
    const { writing } = this.#book
    const reading = this.#changed.size > 0 ? this.#book.reread() : writing
    return reading?.then(() => this.#compare())
  }

  /** Pins tools in their current form, as the user has accepted it. */
  async accept(tools: readonly UpstreamTool[]): Promise<void> {
    await this.#book.accept(tools)
    this.#compare()
  }

  get pins(): Pins {
    return this.#book.value.pins
  }

  /** Without the book, all tools count as changed. */
  #compare(): void {
    const tools = this.isFresh ? (this.#known?.tools ?? []) : []
    const changed = this.#book.isFailing ? tools.map(({ name }) => name) : changesIn(this.#book.value.pins, tools)
    this.#changed = new Set(changed)
  }

  fail(failure: Pick<Failure, 'reason' | 'hint' | 'log'>): void {
    const { name: server } = this
    const inputs = this.#options.inputs()
    const count = (this.failure?.count ?? 0) + 1
    this.#book.keep({ failure: { ...failure, server, ...(inputs && { inputs }), at: this.#options.now(), count } })
    void this.#book.flush()
  }

  /** Records why a server in use failed to start or exited. The known tools are kept. */
  erred(error: Omit<ServerError, 'at'>): void {
    this.#book.keep({ lastError: { ...error, server: this.name, at: this.#options.now() } })
  }

  /** @param user whose results taught it; missing for the owner of the bridge */
  learnedShape(tool: string, user?: string): Shape | undefined {
    if (user !== undefined) return this.#ofUsers.get(user)?.get(tool)?.shape
    const learned = this.#book.learnedType(tool)
    return learned && learned.of === this.named(tool)?.fingerprint ? learned.shape : undefined
  }

  learn(shapes: Shapes, toolName: string, result: ToolResult, user?: string): void {
    const tool = this.named(toolName)
    if (tool?.name !== toolName) return
    const before = this.learnedShape(toolName, user)
    const { outputSchema } = tool.definition
    const isTyped = isRecord(outputSchema)
    if (readsFiles(tool) || (isTyped && !promisesText(outputSchema))) return
    const seen = shapes.of(result, before)
    if (seen === undefined) return
    // Of a promised text, only its rows are to be learned: its data stays a text.
    const shape = isTyped && seen.type.join() !== 'Text' ? { type: ['string'] } : seen
    const of = tool.fingerprint
    if (user === undefined) return this.#book.learn(shapes, toolName, { of, shape })
    const own = this.#ofUsers.get(user) ?? new Map<string, LearnedType>()
    this.#ofUsers.set(user, own.set(toolName, { of, shape: before ? shapes.merged(before, shape) : shape }))
  }

  flush(): Promise<void> {
    return this.#book.flush()
  }

  #forgetChanged(): void {
    for (const own of this.#ofUsers.values())
      for (const [name, { of }] of own) if (this.named(name)?.fingerprint !== of) own.delete(name)
  }

  /** From the book on first use: what another tenant's upstream lists later may be other tools. */
  get #known(): Listing | undefined {
    if (this.#isOpened) return this.#listing
    this.#isOpened = true
    return (this.#listing = this.#book.listingFor(this.#options.abilities()))
  }
}

/** The error with the current name of its server, because the kept facts of a server outlast a rename. */
function underName<T extends ServerError>(error: T, name: string): T {
  const { server, reason, hint } = error
  if (server === undefined || server === name) return error
  const start = `Server '${server}' `
  const commandOf = (one: string): string => `sandbridge servers ${shellWord(one)}`
  return {
    ...error,
    server: name,
    ...(reason.startsWith(start) && { reason: `Server '${name}' ${reason.slice(start.length)}` }),
    ...(hint !== undefined && { hint: hint.replace(commandOf(server), () => commandOf(name)) }),
  }
}
