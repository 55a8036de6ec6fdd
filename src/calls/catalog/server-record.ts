// The knowledge of one server, in memory and on disk. The file is read on first use.
import { isSameDefinition, trustRank } from '../../config/merge-definitions.ts'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { fileRoots } from '../../config/entries/file-roots.ts'
import { allowsTool } from '../../config/entries/tool-filter.ts'
import type { ToolResult, UpstreamTool } from '../../upstream/upstream.ts'
import {
  catalogOfferings,
  keptPrompts,
  keptResources,
  type CatalogOffering,
  type Offerings,
} from './model/catalog-offering.ts'
import { catalogTools, type CatalogTool } from './model/catalog-tool.ts'
import {
  definitionKey,
  toolFingerprint,
  type CachedServer,
  type DiskCache,
  type Failure,
  type LearnedType,
  type ServerError,
} from './disk-cache.ts'
import { shellWord } from '../../config/secrets/command-line.ts'
import { isRecord } from '../../util/json/json.ts'
import { isPlainText, isTextBox, mergeShapes, shapeOfResult, type Shape } from './model/learned-types.ts'
import { oneLine } from '../../util/text/one-line.ts'
import { type Purpose, purposeText, serverPurpose, serverTopics } from './server-purpose.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Older lists are renewed at the next occasion, but still used if the server does not answer. */
const MAX_AGE_MS = 7 * DAY_MS
const SAVE_DELAY_MS = 2000
/** A list that was read again and stayed the same is saved this rarely, for its date. */
const SAVE_AGAIN_MS = 60 * 60 * 1000
const DESCRIPTION_LIMIT = 160
const PURPOSE_LIMIT = 100
/** By the list of tools, which clients of one process have in common; of a name, and of the tools that rules allow. */
const purposes = new WeakMap<readonly UpstreamTool[], { of: string; purpose: Purpose }>()

interface RecordOptions {
  cache: DiskCache | undefined
  /** Milliseconds since 1970. */
  now: () => number
  /** What the start of the server depends on, see `Failure`. */
  inputs: () => string | undefined
  /** Whether a tool may be named in the server's description. */
  isShown: (tool: CatalogTool) => boolean
  /** The user's home folder, for arguments that begin with `~`. */
  home: string
}

export class ServerRecord {
  readonly name: string
  readonly alias: string
  /** Whether this process has read the tools from the server. */
  isFresh = false
  readonly #definition: ServerDefinition
  readonly #options: RecordOptions
  #known: CachedServer | undefined
  #configuredDescription: string | undefined
  #lastPurpose: { shown: readonly CatalogTool[]; purpose: Purpose } | undefined
  #tools: CatalogTool[] | undefined
  #named: Map<string, CatalogTool> | undefined
  #offerings: CatalogOffering[] | undefined
  /** By user and tool: what results of users other than the owner taught. It is not kept on disk. */
  readonly #ofUsers = new Map<string, Map<string, LearnedType>>()
  #saving: NodeJS.Timeout | undefined
  /** `fetchedAt` as this process has saved it. */
  #savedListing: number | undefined

  constructor(definition: ServerDefinition, alias: string, options: RecordOptions) {
    this.name = definition.name
    this.alias = alias
    this.#definition = definition
    this.#options = options
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

  /**
   * The tools that the server's definition allows, without those that no model may call. Undefined until the server
   * was listed once, now or in an earlier run.
   */
  get tools(): CatalogTool[] | undefined {
    if (this.#tools !== undefined) return this.#tools
    const allowed = this.#load().tools?.filter(({ name, isOfApps }) => !isOfApps && allowsTool(this.#definition, name))
    return (this.#tools = allowed && catalogTools(this.name, this.alias, allowed))
  }

  /** The latest definitions of the tools that the server has listed for any client. */
  get toolsOfAnyClient(): UpstreamTool[] {
    const listings = [...(this.#options.cache?.readAll(this.key) ?? []), ...(this.isFresh ? [this.#load()] : [])]
    const latest = new Map(listings.flatMap(({ tools = [] }) => tools.map((tool) => [tool.name, tool])))
    return [...latest.values()].filter(({ name, isOfApps }) => !isOfApps && allowsTool(this.#definition, name))
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
    const { failure } = this.#load()
    return failure && failure.inputs === this.#options.inputs() ? underName(failure, this.name) : undefined
  }

  /** The last failed start or unexpected exit, even if the server has worked since. */
  get lastError(): ServerError | undefined {
    const { lastError } = this.#load()
    return lastError && underName(lastError, this.name)
  }

  /** The server's instructions; undefined when it has none. */
  get instructions(): string | undefined {
    return this.#load().instructions
  }

  /** When the tools were read, in milliseconds since 1970. */
  get fetchedAt(): number | undefined {
    return this.#load().fetchedAt
  }

  /** Known from long ago, or from what the server listed for clients that can be asked other things. */
  get isOld(): boolean {
    const { fetchedAt } = this.#load()
    if (this.isFresh || fetchedAt === undefined) return false
    return this.#options.now() - fetchedAt > MAX_AGE_MS || this.#isOfOthers
  }

  get #isOfOthers(): boolean {
    return this.#options.cache !== undefined && (this.#load().abilities ?? '') !== this.#options.cache.abilities()
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
    const { tools: listed = [], instructions } = this.#load()
    const tools = shown.map(({ alias, description }) => ({ name: alias, description }))
    const of = [this.name, ...tools.map(({ name }) => name)].join(' ')
    const found = purposes.get(listed)
    const purpose = found?.of === of ? found.purpose : serverPurpose(this.name, instructions, tools, PURPOSE_LIMIT)
    purposes.set(listed, { of, purpose })
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
    this.#offerings ??= catalogOfferings(this.name, this.alias, this.#load())
    return this.#offerings
  }

  /** A known prompt, with a signature of its arguments. */
  prompt(name: string): CatalogOffering | undefined {
    return this.offerings.find(({ kind, target }) => kind === 'prompt' && target === name)
  }

  /** Whether known tools may be used to refuse a call. Not when they are so old that the server may have changed. */
  get isTrustworthy(): boolean {
    const { fetchedAt } = this.#load()
    return this.isFresh || (fetchedAt !== undefined && this.#options.now() - fetchedAt < DAY_MS && !this.#isOfOthers)
  }

  /** Stores the server's resources and prompts. @returns whether anything changed */
  updateOfferings({ resources, prompts }: Offerings): boolean {
    const known = this.#load()
    const before = JSON.stringify([known.resources ?? [], known.prompts ?? []])
    if (resources !== undefined) known.resources = keptResources(resources)
    if (prompts !== undefined) known.prompts = keptPrompts(prompts)
    if (before === JSON.stringify([known.resources ?? [], known.prompts ?? []])) return false
    this.#offerings = undefined
    this.#save()
    return true
  }

  /** Stores the server's tools and instructions. @returns whether anything changed */
  update(tools: readonly UpstreamTool[], instructions: string | undefined): boolean {
    const known = this.#load()
    const named = tools.filter((tool) => isRecord(tool) && typeof tool.name === 'string')
    const isSame =
      known.tools !== undefined &&
      known.instructions === instructions &&
      JSON.stringify(known.tools) === JSON.stringify(named)
    this.isFresh = true
    const fetchedAt = this.#options.now()
    const abilities = this.#options.cache?.abilities()
    const isSaved =
      isSame &&
      known.failure === undefined &&
      (known.abilities ?? '') === (abilities ?? '') &&
      Math.abs(fetchedAt - (this.#savedListing ?? -Infinity)) < SAVE_AGAIN_MS
    delete known.failure
    known.fetchedAt = fetchedAt
    if (abilities) known.abilities = abilities
    else delete known.abilities
    if (!isSame) {
      known.tools = [...named]
      if (instructions === undefined) delete known.instructions
      else known.instructions = instructions
      this.#tools = undefined
      this.#named = undefined
      this.#lastPurpose = undefined
      this.#forgetChanged(known)
    }
    if (!isSaved) this.#save()
    return !isSame
  }

  /** Records a failed listing. */
  fail(failure: Pick<Failure, 'reason' | 'hint' | 'log'>): void {
    const { name: server } = this
    const inputs = this.#options.inputs()
    const count = (this.failure?.count ?? 0) + 1
    this.#load().failure = { ...failure, server, ...(inputs && { inputs }), at: this.#options.now(), count }
    this.#save()
  }

  /** Records why a server in use failed to start or exited. The known tools are kept. */
  erred(error: Omit<ServerError, 'at'>): void {
    this.#load().lastError = { ...error, server: this.name, at: this.#options.now() }
    this.#saveSoon()
  }

  /** @param user whose results taught it; missing for the owner of the bridge */
  learnedShape(tool: string, user?: string): Shape | undefined {
    if (user !== undefined) return this.#ofUsers.get(user)?.get(tool)?.shape
    const learned = this.#load().learned
    return learned && Object.hasOwn(learned, tool) ? learned[tool]?.shape : undefined
  }

  /** Learns from a result of this user's call. */
  learn(toolName: string, result: ToolResult, user?: string): void {
    const tool = this.named(toolName)
    if (tool?.name !== toolName) return
    const { outputSchema } = tool.definition
    if (isRecord(outputSchema) && !isTextBox(outputSchema)) return
    const before = this.learnedShape(toolName, user)
    // Nothing new; most tools return plain text.
    if (before?.type.includes('string') && isPlainText(result)) return
    const shape = shapeOfResult(result)
    if (shape === undefined) return
    const merged = before === undefined ? shape : mergeShapes(before, shape)
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(merged)) return
    const one = { of: toolFingerprint(tool.definition), shape: merged }
    if (user !== undefined) {
      const own = this.#ofUsers.get(user) ?? new Map<string, LearnedType>()
      this.#ofUsers.set(user, own.set(toolName, one))
      return
    }
    const known = this.#load()
    known.learned = Object.fromEntries([...Object.entries(known.learned ?? {}), [toolName, one]])
    this.#saveSoon()
  }

  /** Writes pending changes. */
  flush(): void {
    if (this.#saving !== undefined) this.#save()
  }

  #forgetChanged(known: CachedServer): void {
    if (known.tools === undefined) return
    const prints = new Map(known.tools.map((tool) => [tool.name, toolFingerprint(tool)]))
    for (const own of this.#ofUsers.values())
      for (const [name, one] of own) if (prints.get(name) !== one.of) own.delete(name)
    if (known.learned === undefined) return
    known.learned = Object.fromEntries(
      Object.entries(known.learned).filter(([name, one]) => prints.get(name) === one.of),
    )
  }

  #load(): CachedServer {
    this.#known ??= this.#options.cache?.read(this.key) ?? {}
    return this.#known
  }

  #saveSoon(): void {
    if (this.#options.cache === undefined) return
    this.#saving ??= setTimeout(() => this.#save(), SAVE_DELAY_MS).unref()
  }

  #save(): void {
    clearTimeout(this.#saving)
    this.#saving = undefined
    this.#savedListing = this.#load().fetchedAt
    this.#options.cache?.write(this.key, this.#load())
  }
}

/** An error of a definition under its name of today: what is known of a definition outlasts its name. */
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
