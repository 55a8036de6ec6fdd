// Which upstreams one cell may reach, and which it may only know of. Decided once, before it runs, from what the client asked for and how the
// bridge is set. Pure.
import type { Catalog } from '../catalog/catalog.ts'
import { BridgeError } from '../errors.ts'
import type { VisibleServer } from '../protocol/frames.ts'
import { shortName } from '../text/short-name.ts'
import { firstOf } from '../text/first-of.ts'

export class Scope {
  readonly servers: VisibleServer[]
  /** Does the call name its servers, so that others may be missing? */
  readonly #isNamed: boolean
  /** Those that the cell did not name where it has to: it knows their names and what the configuration says of them, and reaches none. */
  readonly unloaded: VisibleServer[]
  readonly #names: Set<string>

  constructor(servers: VisibleServer[], unloaded: VisibleServer[] = [], isNamed = false) {
    this.#isNamed = isNamed
    this.servers = servers
    this.unloaded = unloaded
    this.#names = new Set(servers.map((server) => server.name))
  }

  /** All that the cell knows of. */
  get visible(): VisibleServer[] {
    return [...this.servers, ...this.unloaded]
  }

  /** A server that the user has added while the cell runs. */
  add(server: VisibleServer): void {
    this.servers.push(server)
    this.#names.add(server.name)
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** The error for a server that a cell may not reach. Unless it may know of it, a cell must not learn whether there is such a server. */
  unavailable(name: string): BridgeError {
    return new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${shortName(name)}' is not available`, {
      hint: this.#hint(name),
    })
  }

  #hint(name: string): string {
    const names = this.servers.map((server) => server.name)
    const known = this.unloaded.find((server) => [server.name, server.alias, `mcp_${server.alias}`].includes(name))
    if (known)
      return `Run again with servers=[${[...names, known.name].map((one) => JSON.stringify(one)).join(', ')}]: ${ONLY_NAMED}.`
    const others = this.unloaded.map((server) => server.name)
    if (this.#isNamed && others.length === 0)
      return `It is not in this call's \`servers\`: ${firstOf(names) || 'none'}. Add it there, or omit \`servers\`.`
    const available = names.length > 0 ? `Available: ${firstOf(names)}` : 'No server is available to this cell.'
    return others.length > 0
      ? `${available}${names.length > 0 ? '.' : ''} Name in servers=[…] to use: ${firstOf(others)}`
      : available
  }
}

/** Why a server is not there for a cell that did not name it. */
export const ONLY_NAMED = 'a cell gets only the servers that its call names'

/**
 * @param requested names or aliases from the `servers` argument; undefined means all, or none when loading is explicit
 * @throws BridgeError PROXY_SERVER_UNAVAILABLE for a name that is not configured
 */
export function scopeFor(catalog: Catalog, requested: string[] | undefined, load: 'lazy' | 'explicit'): Scope {
  const entries = catalog.servers()
  const all = entries.map(({ name, alias, description }) => visible(name, alias, description))
  if (!requested && load === 'lazy') return new Scope(all)
  const byName = new Map(all.map((server) => [server.name, server]))
  const chosen = (requested ?? []).map((wanted) => {
    const server = byName.get(catalog.resolveServer(wanted) ?? '')
    if (!server) throw new Scope(all).unavailable(wanted)
    return server
  })
  const servers = [...new Set(chosen)]
  if (load === 'lazy') return new Scope(servers, [], true)
  const named = new Set(servers.map((server) => server.name))
  const others = entries.filter(({ name }) => !named.has(name))
  // Only the configuration's own words: a description from the server itself may tell of its tools.
  const unloaded = others.map((one) => ({
    ...visible(one.name, one.alias, catalog.configuredDescription(one.name)),
    loaded: false as const,
  }))
  return new Scope(servers, unloaded)
}

function visible(name: string, alias: string, description: string): VisibleServer {
  return { name, alias, ...(description && { description }) }
}
