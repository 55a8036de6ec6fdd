// What is known of one server, in memory and on disk. Reading the disk waits until something is asked.
import { isSameDefinition, trustRank } from '../config/merge-definitions.ts'
import type { ServerDefinition } from '../config/server-definition.ts'
import { fileRoots } from '../config/file-roots.ts'
import { allowsTool } from '../config/tool-filter.ts'
import type { ToolResult, UpstreamTool } from '../upstream/upstream.ts'
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
  type ServerError,
} from './disk-cache.ts'
import { isRecord } from '../text/json.ts'
import { isPlainText, isTextBox, mergeShapes, shapeOfResult, type Shape } from './model/learned-types.ts'
import { oneLine } from '../text/one-line.ts'
import { serverPurpose } from './server-purpose.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** From then on a server is asked again at the next occasion, though what is known still serves when it does not answer. */
const MAX_AGE_MS = 7 * DAY_MS
const SAVE_DELAY_MS = 2000
const DESCRIPTION_LIMIT = 160
const PURPOSE_LIMIT = 100

export class ServerRecord {
  readonly name: string
  readonly alias: string
  /** Were the tools read from the server by this process? */
  isFresh = false
  readonly #definition: ServerDefinition
  readonly #cache: DiskCache | undefined
  readonly #now: () => number
  readonly #inputs: () => string | undefined
  readonly #isShown: (tool: CatalogTool) => boolean
  #key: string | undefined
  #known: CachedServer | undefined
  #tools: CatalogTool[] | undefined
  #named: Map<string, CatalogTool> | undefined
  #offerings: CatalogOffering[] | undefined
  #saving: NodeJS.Timeout | undefined

  /**
   * @param inputs what the start of the server depends on, see `Failure`
   * @param isShown whether a tool may be named in words about the server
   */
  constructor(
    definition: ServerDefinition,
    alias: string,
    cache: DiskCache | undefined,
    now: () => number,
    inputs: () => string | undefined = () => undefined,
    isShown: (tool: CatalogTool) => boolean = () => true,
  ) {
    this.name = definition.name
    this.alias = alias
    this.#definition = definition
    this.#cache = cache
    this.#now = now
    this.#inputs = inputs
    this.#isShown = isShown
  }

  /** Whether it is the record of this definition under this name. */
  isOf(definition: ServerDefinition, alias: string): boolean {
    return alias === this.alias && isSameDefinition(definition, this.#definition)
  }

  /** How far it is trusted: see `trustRank`. */
  get rank(): number {
    return trustRank(this.#definition)
  }

  /** Those that the server's definition allows. Undefined until the server was read once, now or in an earlier run. */
  get tools(): CatalogTool[] | undefined {
    if (this.#tools !== undefined) return this.#tools
    const allowed = this.#load().tools?.filter(({ name }) => allowsTool(this.#definition, name))
    return (this.#tools = allowed && catalogTools(this.name, this.alias, allowed))
  }

  /** A tool by its true name, or else by its Python name. */
  named(name: string): CatalogTool | undefined {
    if (this.#named === undefined) {
      const tools = (this.tools ?? []).toReversed()
      // The first of a name is meant.
      const byAlias = tools.map((tool) => [tool.alias, tool] as const)
      this.#named = new Map([...byAlias, ...tools.map((tool) => [tool.name, tool] as const)])
    }
    return this.#named.get(name)
  }

  /** The last one, unless what it depended on has changed since. */
  get failure(): Failure | undefined {
    const { failure } = this.#load()
    return failure && failure.inputs === this.#inputs() ? failure : undefined
  }

  /** The last failed start or unexpected exit, also when the server has worked since. */
  get lastError(): ServerError | undefined {
    return this.#load().lastError
  }

  /** The server's own words; undefined when there are none. */
  get instructions(): string | undefined {
    return this.#load().instructions
  }

  /** When the tools were read, in milliseconds since 1970. */
  get fetchedAt(): number | undefined {
    return this.#load().fetchedAt
  }

  get isOld(): boolean {
    const { fetchedAt } = this.#load()
    return !this.isFresh && fetchedAt !== undefined && this.#now() - fetchedAt > MAX_AGE_MS
  }

  /** May the server be asked again, after it failed? Each failure in a row doubles the pause, from a minute to a day. */
  get mayRetry(): boolean {
    const { failure } = this
    if (failure === undefined) return true
    const pause = Math.min(DAY_MS, 60_000 * 2 ** Math.min(failure.count - 1, 20))
    const waited = this.#now() - failure.at
    // A clock set back must not make the pause endless.
    return waited < 0 || waited >= pause
  }

  /** One line: from the config, else from the server's instructions, else made from its tools. */
  get description(): string {
    const own = this.configuredDescription
    if (own !== '') return own
    const shown = (this.tools ?? []).filter(this.#isShown)
    const tools = shown.map(({ alias, description }) => ({ name: alias, description }))
    return serverPurpose(this.name, this.#load().instructions, tools, PURPOSE_LIMIT)
  }

  get configuredDescription(): string {
    return oneLine(this.#definition.description, DESCRIPTION_LIMIT)
  }

  /** The folders that it serves, when it is a server of files. */
  get roots(): string[] {
    const isOfFiles = ({ name }: CatalogTool): boolean => /file|director|folder|note|repo/i.test(name)
    return this.tools?.some(isOfFiles) === false ? [] : fileRoots(this.#definition)
  }

  get offerings(): CatalogOffering[] {
    this.#offerings ??= catalogOfferings(this.name, this.alias, this.#load())
    return this.#offerings
  }

  /** May a call be refused because of what is known? Not when that is so old that the server may have changed. */
  get isTrustworthy(): boolean {
    const { fetchedAt } = this.#load()
    return this.isFresh || (fetchedAt !== undefined && this.#now() - fetchedAt < DAY_MS)
  }

  /** Take over what the server offers beside tools. @returns whether anything is different from what was known */
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

  /** Take over what the server says. @returns whether anything is different from what was known */
  update(tools: readonly UpstreamTool[], instructions: string | undefined): boolean {
    const known = this.#load()
    const named = tools.filter((tool) => isRecord(tool) && typeof tool.name === 'string')
    const isSame =
      known.tools !== undefined &&
      known.instructions === instructions &&
      JSON.stringify(known.tools) === JSON.stringify(named)
    this.isFresh = true
    delete known.failure
    known.fetchedAt = this.#now()
    if (!isSame) {
      known.tools = [...named]
      if (instructions === undefined) delete known.instructions
      else known.instructions = instructions
      this.#tools = undefined
      this.#named = undefined
      this.#forgetChanged(known)
    }
    this.#save()
    return !isSame
  }

  /** Remember that the server could not be read. */
  fail(failure: Pick<Failure, 'reason' | 'hint' | 'log'>): void {
    const inputs = this.#inputs()
    const count = (this.failure?.count ?? 0) + 1
    this.#load().failure = { ...failure, ...(inputs && { inputs }), at: this.#now(), count }
    this.#save()
  }

  /** Remember why a server that is used could not be started, or ended. What is known of its tools stays known. */
  erred(error: Omit<ServerError, 'at'>): void {
    this.#load().lastError = { ...error, at: this.#now() }
    this.#saveSoon()
  }

  learnedShape(tool: string): Shape | undefined {
    const learned = this.#load().learned
    return learned && Object.hasOwn(learned, tool) ? learned[tool]?.shape : undefined
  }

  learn(toolName: string, result: ToolResult): void {
    const tool = this.named(toolName)
    if (tool?.name !== toolName) return
    const { outputSchema } = tool.definition
    if (isRecord(outputSchema) && !isTextBox(outputSchema)) return
    const before = this.learnedShape(toolName)
    // Nothing new, and what most tools return.
    if (before?.type.includes('string') && isPlainText(result)) return
    const shape = shapeOfResult(result)
    if (shape === undefined) return
    const known = this.#load()
    const merged = before === undefined ? shape : mergeShapes(before, shape)
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(merged)) return
    const one = { of: toolFingerprint(tool.definition), shape: merged }
    known.learned = Object.fromEntries([...Object.entries(known.learned ?? {}), [toolName, one]])
    this.#saveSoon()
  }

  /** Write what is waiting to be written. */
  flush(): void {
    if (this.#saving !== undefined) this.#save()
  }

  #forgetChanged(known: CachedServer): void {
    if (known.learned === undefined || known.tools === undefined) return
    const prints = new Map(known.tools.map((tool) => [tool.name, toolFingerprint(tool)]))
    known.learned = Object.fromEntries(
      Object.entries(known.learned).filter(([name, one]) => prints.get(name) === one.of),
    )
  }

  #load(): CachedServer {
    this.#known ??= this.#cache?.read(this.#cacheKey()) ?? {}
    return this.#known
  }

  #saveSoon(): void {
    if (this.#cache === undefined) return
    this.#saving ??= setTimeout(() => this.#save(), SAVE_DELAY_MS).unref()
  }

  #save(): void {
    clearTimeout(this.#saving)
    this.#saving = undefined
    this.#cache?.write(this.#cacheKey(), this.#load())
  }

  #cacheKey(): string {
    this.#key ??= definitionKey(this.#definition)
    return this.#key
  }
}
