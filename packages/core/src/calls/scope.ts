// Which upstreams one cell may reach, and which it may only know about: decided before the cell runs. Pure.
import type { Catalog } from './catalog/catalog.ts'
import { BridgeError } from '../errors.ts'
import type { VisibleServer } from '../cell/protocol/frames.ts'
import { shortName } from '../util/text/server-words.ts'
import { firstOf } from '../util/text/count.ts'

export class Scope {
  readonly servers: VisibleServer[]
  /** Whether the call names its servers, so that others may be missing. */
  readonly #isNamed: boolean
  /** Servers that the cell did not name although it must: it knows of them, and cannot call them. */
  readonly unloaded: VisibleServer[]
  readonly #names: Set<string>

  constructor(servers: VisibleServer[], unloaded: VisibleServer[] = [], isNamed = false) {
    this.#isNamed = isNamed
    this.servers = servers
    this.unloaded = unloaded
    this.#names = new Set(servers.map((server) => server.name))
  }

  /** All servers that the cell knows about. */
  get visible(): VisibleServer[] {
    return [...this.servers, ...this.unloaded]
  }

  /** Adds a server that the user has added while the cell runs. */
  add(server: VisibleServer): void {
    this.servers.push(server)
    this.#names.add(server.name)
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** The error for a server out of scope. It must not reveal whether a server exists that the cell may not know. */
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
      ? `${available}${names.length > 0 ? '.' : ''} To use one of these, name it in \`servers\`: ${firstOf(others)}`
      : available
  }
}

/** Why a server is missing for a cell that did not name it. */
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
  // Only the configured description: one from the server itself may describe its tools.
  const unloaded = others.map((one) => ({
    ...visible(one.name, one.alias, catalog.of(one.name).configuredDescription),
    loaded: false as const,
  }))
  return new Scope(servers, unloaded)
}

function visible(name: string, alias: string, description: string): VisibleServer {
  return { name, alias, ...(description && { description }) }
}

export function allowedServer(nameOrAlias: string, catalog: Catalog, scope: Scope): string {
  const serverName = catalog.resolveServer(nameOrAlias)
  if (serverName === undefined || !scope.has(serverName)) throw scope.unavailable(nameOrAlias)
  return serverName
}
