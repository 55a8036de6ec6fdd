// The tools of servers under names that a client can list and call.
import type { Tool } from '@modelcontextprotocol/server'
import type { DirectCall } from '@sandbridge/core/bridge'
import { type Catalog, type CatalogTool, pythonLiteral } from '@sandbridge/core/calls/catalog'
import type { Ability } from '@sandbridge/core/calls'
import type { ServerDefinition } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { readArguments } from '@sandbridge/core/serve'
import { fieldsOf, isRecord, withoutUndefined } from '@sandbridge/core/util/json/json.ts'
import { fitsGlob, shortName, textName } from '@sandbridge/core/util/text'
import { toldSchema } from './output-schema.ts'

/** Most APIs of models refuse names of more than 64 characters, and other signs. Clients write their own before it. */
const MAX_NAME = 64 - 'mcp__sandbridge__'.length
/** Of a name that would be too long or is not free. */
const HASH = 9
const OTHER_SIGNS = /[^\w-]/g
const MAX_CODE = 10_000

interface NotedCall extends DirectCall {
  note: string | undefined
}

interface Connected {
  catalog: Catalog
  upstreams: { readonly definitions: readonly ServerDefinition[] }
  /** Values are masked: they no longer fit what their schemas say of them. */
  isMasked?: boolean
}

export class DirectTools {
  readonly #isAll: boolean
  readonly #connected: (abilities?: readonly Ability[]) => Promise<Connected>
  readonly #onChange: () => void
  #byName: ReadonlyMap<string, CatalogTool> = new Map()
  #denied: CatalogTool | undefined
  /** The catalog that tells of its changes. */
  #heard: Catalog | undefined
  #isClosed = false

  /** @param isAll every tool, not only those that an entry names @param onChange of the list */
  constructor(isAll: boolean, connected: (abilities?: readonly Ability[]) => Promise<Connected>, onChange: () => void) {
    this.#isAll = isAll
    this.#connected = connected
    this.#onChange = onChange
  }

  /** Resolves when every server has been asked that was never asked. One that fails is left out. */
  async list(abilities: readonly Ability[]): Promise<Tool[]> {
    const { catalog, upstreams } = await this.#connected(abilities)
    this.#hear(catalog)
    const servers = upstreams.definitions.filter(({ direct = false }) => this.#isAll || direct !== false)
    await Promise.allSettled(servers.map(({ name }) => catalog.shownTools(name)))
    return this.known()
  }

  /** Those that are known now. */
  async known(): Promise<Tool[]> {
    const connected = await this.#connected()
    this.#byName = this.#named(connected)
    return [...this.#byName].map(([name, { definition }]) => asTool(name, definition, connected.isMasked))
  }

  async has(name: string, abilities: readonly Ability[]): Promise<boolean> {
    // A client may call what another process listed.
    if (!this.#byName.has(name)) await this.list(abilities)
    return this.#byName.has(name) || (await this.#findDenied(name)) !== undefined
  }

  /** One that would be listed without a rule: its caller reads that rule, as the code of a cell does. */
  async #findDenied(name: string): Promise<CatalogTool | undefined> {
    this.#denied = chosenTools(await this.#connected(), this.#isAll, true).find((tool) => isNamed(tool, name))
    return this.#denied
  }

  /** What a call of a listed tool does. @throws BridgeError PROXY_TOOL_UNKNOWN */
  call(name: string, args: Record<string, unknown>): NotedCall {
    const found = this.#byName.get(name) ?? (this.#denied && isNamed(this.#denied, name) ? this.#denied : undefined)
    if (found) return callOf(found, name, args)
    throw noTool(name)
  }

  /** Its client is gone: catalogs outlive it. */
  close(): void {
    this.#isClosed = true
    this.#heard?.onChange.delete(this.#compare)
  }

  #hear(catalog: Catalog): void {
    if (this.#isClosed) return
    this.#heard?.onChange.delete(this.#compare)
    this.#heard = catalog
    catalog.onChange.add(this.#compare)
  }

  readonly #compare = (): void => {
    void this.#connected().then(
      (connected) => {
        if (listId(this.#named(connected)) !== listId(this.#byName)) this.#onChange()
      },
      () => {},
    )
  }

  #named(connected: Connected): Map<string, CatalogTool> {
    const all = chosenTools(connected, this.#isAll)
    const counts = new Map<string, number>()
    for (const tool of all) counts.set(listedName(tool), (counts.get(listedName(tool)) ?? 0) + 1)
    // Of two with the same signs, none has the plain name: it would change its meaning when the other one goes.
    return new Map(all.map((tool) => [counts.get(listedName(tool)) === 1 ? listedName(tool) : hashedName(tool), tool]))
  }
}

/** Those that the entries of their servers list by themselves. @param withDenied also those that a rule hides */
export function chosenTools({ catalog, upstreams }: Connected, isAll = false, withDenied = false): CatalogTool[] {
  return upstreams.definitions.flatMap(({ name: server, direct = false }) => {
    const patterns = isAll || direct === true ? ['*'] : direct || []
    const known = withDenied ? (catalog.of(server).tools ?? []) : catalog.shownNow(server)
    return known.filter(({ name }) => patterns.some((pattern) => fitsGlob(pattern, name)))
  })
}

function listId(tools: ReadonlyMap<string, CatalogTool>): string {
  return [...tools].map(([name, { fingerprint }]) => `${name} ${fingerprint}`).join('\n')
}

/** A call of any tool, by the name of a search. @throws BridgeError PROXY_TOOL_UNKNOWN, also for a shared name */
export async function callOfAny(catalog: Catalog, name: string, args: Record<string, unknown>): Promise<NotedCall> {
  const servers = serversFor(catalog, name)
  const tools = (await Promise.all(servers.map((server) => catalog.shownTools(server)))).flat()
  const shown = tools.filter((tool) => isNamed(tool, name))
  const denied = () => servers.flatMap((server) => catalog.of(server).tools ?? []).filter((tool) => isNamed(tool, name))
  const [found, ...others] = shown.length > 0 ? shown : denied()
  if (found && others.length === 0) return callOf(found, name, args)
  throw noTool(name)
}

/** The name of a tool by which `callOfAny` finds no other. */
export function foundName(catalog: Pick<Catalog, 'servers' | 'shownNow'>, tool: Named): string {
  const name = listedName(tool)
  const known = serversFor(catalog, name).flatMap((server) => catalog.shownNow(server))
  return known.filter((one) => listedName(one) === name).length > 1 ? hashedName(tool) : name
}

/** Those that may have a tool of this name. */
const serversFor = (catalog: Pick<Catalog, 'servers'>, name: string): string[] =>
  catalog
    .servers()
    .map((server) => server.name)
    .filter((server) => name.startsWith(plainName({ server, name: '' }).slice(0, MAX_NAME - HASH)))

function noTool(name: string): BridgeError {
  return new BridgeError('PROXY_TOOL_UNKNOWN', `No server has the tool '${shortName(name)}'`, {
    hint: 'Search again: the tools of servers change.',
  })
}

type Named = Pick<CatalogTool, 'server' | 'name'>

const isNamed = (tool: Named, name: string): boolean => [listedName(tool), hashedName(tool)].includes(name)

/** `github__create_issue`, of signs that every client takes. */
function listedName(tool: Named): string {
  const name = plainName(tool)
  return name.length <= MAX_NAME ? name : hashedName(tool)
}

function hashedName(tool: Named): string {
  return `${plainName(tool).slice(0, MAX_NAME - HASH)}_${textName(`${tool.server}\n${tool.name}`).slice(0, HASH - 1)}`
}

const plainName = ({ server, name }: Named): string => `${server}__${name}`.replaceAll(OTHER_SIGNS, '_')

/** As its server lists it, without apps and tasks. A client refuses a list for one schema that is no object's. */
function asTool(name: string, definition: CatalogTool['definition'], isMasked = false): Tool {
  const { title, description, inputSchema, outputSchema, annotations, icons } = definition
  const tool = {
    name,
    inputSchema: { ...(isRecord(inputSchema) && inputSchema), type: 'object' as const },
    ...withoutUndefined({
      title,
      description,
      annotations,
      icons: icons?.filter(isIcon),
      outputSchema: isMasked ? undefined : toldSchema(outputSchema),
    }),
  }
  // The server's own words, which the catalog has read.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return tool as Tool
}

const isIcon = (icon: unknown): boolean => isRecord(icon) && typeof icon['src'] === 'string'

/** With the Python of a cell that makes the same call. */
function callOf(tool: CatalogTool, name: string, given: Record<string, unknown>): NotedCall {
  const { parameters, closed } = tool.signature
  const properties = Object.fromEntries(parameters.map(({ trueName, schema }) => [trueName, fieldsOf(schema)]))
  const required = parameters.filter((one) => one.required).map(({ trueName }) => trueName)
  const { args, note } = readArguments(given, { name, properties, required, isOpen: !closed })
  const named = Object.keys(args).length === 0 ? '' : `**${pythonLiteral(args, MAX_CODE) ?? '{…}'}`
  return {
    method: 'call_tool',
    params: { server: tool.server, tool: tool.name, args: [], kwargs: args, raw: true, exact: true },
    code: `await mcp_${tool.serverAlias}.${tool.alias}(${named})`,
    note,
  }
}
