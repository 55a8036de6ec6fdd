// The tools of servers under names that a client can list and call.
import type { Tool } from '@modelcontextprotocol/server'
import { type Catalog, type CatalogTool, flattened, pythonLiteral } from '@sandbridge/core/calls/catalog'
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
  /** Also those that a rule denies: their callers read that rule, as the code of a cell does. */
  #byName: ReadonlyMap<string, CatalogTool> = new Map()
  #listed = ''
  /** The catalog that tells of its changes. */
  #heard: Catalog | undefined
  #isClosed = false

  /**
   * @param isAll every tool is listed, not only those that an entry names
   * @param onChange called when the list is no longer what it was
   */
  constructor(isAll: boolean, connected: (abilities?: readonly Ability[]) => Promise<Connected>, onChange: () => void) {
    this.#isAll = isAll
    this.#connected = connected
    this.#onChange = onChange
  }

  /** Resolves when every server has been asked that was never asked. One that fails is left out. */
  async list(abilities: readonly Ability[]): Promise<Tool[]> {
    await this.#ask(abilities)
    const { catalog } = await this.#connected()
    this.#heard?.onChange.delete(this.#compare)
    this.#heard = this.#isClosed ? undefined : catalog
    this.#heard?.onChange.add(this.#compare)
    return this.known()
  }

  /** Those that are known now. */
  async known(): Promise<Tool[]> {
    const connected = await this.#connected()
    const shown = chosenTools(connected, this.#isAll)
    this.#listed = listId(shown)
    const isShown = new Set(shown)
    return [...(await this.named())]
      .filter(([, tool]) => isShown.has(tool))
      .map(([name, { definition }]) => asTool(name, definition, connected.isMasked))
  }

  /** @throws BridgeError of a server that may have the tool and cannot be asked */
  async has(name: string, abilities: readonly Ability[]): Promise<boolean> {
    // A client may call what another process listed.
    if (this.#find(name)) return true
    const failed = (await this.#ask(abilities, name)).find((one) => one.status === 'rejected')
    await this.named()
    if (this.#find(name)) return true
    if (failed) throw failed.reason
    return false
  }

  /** What a call of one of these tools does. @throws BridgeError PROXY_TOOL_UNKNOWN */
  call(name: string, args: Record<string, unknown>) {
    const found = this.#find(name)
    if (found) return callOf(found, name, args)
    throw new BridgeError('PROXY_TOOL_UNKNOWN', `No server has the tool '${shortName(name)}'`, {
      hint: 'Search again: the tools of servers change.',
    })
  }

  /** What is known now, by the names of calls. */
  async named(): Promise<ReadonlyMap<string, CatalogTool>> {
    const all = chosenTools(await this.#connected(), this.#isAll, true)
    const counts = new Map<string, number>()
    for (const tool of all) counts.set(listedName(tool), (counts.get(listedName(tool)) ?? 0) + 1)
    // Of two with the same signs, none has the plain name: it would change its meaning when the other one goes.
    this.#byName = new Map(
      all.map((tool) => [counts.get(listedName(tool)) === 1 ? listedName(tool) : hashedName(tool), tool]),
    )
    return this.#byName
  }

  /** Its client is gone: catalogs outlive it. */
  close(): void {
    this.#isClosed = true
    this.#heard?.onChange.delete(this.#compare)
  }

  #find(name: string): CatalogTool | undefined {
    return this.#byName.get(name) ?? [...this.#byName.values()].find((tool) => hashedName(tool) === name)
  }

  /** Asks servers that were never asked. @param name only those that may have a tool of this name */
  async #ask(abilities: readonly Ability[], name = '') {
    const { catalog, upstreams } = await this.#connected(abilities)
    const chosen = upstreams.definitions.filter(({ direct = false }) => this.#isAll || direct !== false)
    const asked = chosen.filter((one) => name === '' || name.startsWith(startOf(one.name)))
    return Promise.allSettled(asked.map((one) => catalog.shownTools(one.name)))
  }

  readonly #compare = (): void => {
    const look = (connected: Connected): void => {
      if (listId(chosenTools(connected, this.#isAll)) !== this.#listed) this.#onChange()
    }
    void this.#connected().then(look, () => {})
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

function listId(tools: readonly CatalogTool[]): string {
  return tools.map(({ server, name, fingerprint }) => `${server} ${name} ${fingerprint}`).join('\n')
}

type Named = Pick<CatalogTool, 'server' | 'name'>

/** `github__create_issue`, of signs that every client takes. */
function listedName(tool: Named): string {
  const name = plainName(tool)
  return name.length <= MAX_NAME ? name : hashedName(tool)
}

function hashedName(tool: Named): string {
  return `${plainName(tool).slice(0, MAX_NAME - HASH)}_${textName(`${tool.server}\n${tool.name}`).slice(0, HASH - 1)}`
}

/** Of the names of all its tools. */
const startOf = (server: string): string => plainName({ server, name: '' }).slice(0, MAX_NAME - HASH)

const plainName = ({ server, name }: Named): string => `${server}__${name}`.replaceAll(OTHER_SIGNS, '_')

/**
 * As its server lists it. What asks for more of a client than a call is left out: apps, and tasks. A client refuses a
 * whole list for a schema that is none of an object, and a whole result that does not fit its own.
 */
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
function callOf(tool: CatalogTool, name: string, given: Record<string, unknown>) {
  const { parameters, closed } = tool.signature
  const properties = Object.fromEntries(parameters.map(({ trueName, schema }) => [trueName, fieldsOf(schema)]))
  const required = parameters.filter((one) => one.required).map(({ trueName }) => trueName)
  const resolve = (schema: unknown) => flattened(schema, tool.inputSchema)
  const { args, note } = readArguments(given, { name, properties, required, isOpen: !closed, resolve })
  const named = Object.keys(args).length === 0 ? '' : `**${pythonLiteral(args, MAX_CODE) ?? '{…}'}`
  return {
    method: 'call_tool',
    params: { server: tool.server, tool: tool.name, args: [], kwargs: args, raw: true, exact: true },
    code: `await mcp_${tool.serverAlias}.${tool.alias}(${named})`,
    note,
  }
}
