// Which upstreams one cell may reach. Decided once, before it runs, from what the client asked for and how the bridge is set. Pure.
import type { Catalog } from '../catalog/catalog.ts'
import { BridgeError } from '../errors.ts'
import type { VisibleServer } from '../protocol/frames.ts'
import { shortName } from '../short-name.ts'

export class Scope {
  readonly servers: VisibleServer[]
  readonly #names: ReadonlySet<string>

  constructor(servers: VisibleServer[]) {
    this.servers = servers
    this.#names = new Set(servers.map((server) => server.name))
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** The error for a server that a cell may not reach, whether it exists or not: a cell must not learn the difference. */
  unavailable(name: string): BridgeError {
    const names = this.servers.map((server) => server.name)
    const shown = names.slice(0, 20).join(', ') + (names.length > 20 ? `, … (${names.length} in all)` : '')
    const hint = names.length > 0 ? `Available: ${shown}` : 'No server is available to this cell.'
    return new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${shortName(name)}' is not available`, { hint })
  }
}

/**
 * @param requested names or aliases from the `servers` argument; undefined means all, or none when loading is explicit
 * @throws BridgeError PROXY_SERVER_UNAVAILABLE for a name that is not configured
 */
export function scopeFor(catalog: Catalog, requested: string[] | undefined, load: 'lazy' | 'explicit'): Scope {
  const all = catalog
    .servers()
    .map(({ name, alias, description }) => ({ name, alias, ...(description && { description }) }))
  if (!requested) return new Scope(load === 'explicit' ? [] : all)
  const byName = new Map(all.map((server) => [server.name, server]))
  const chosen = requested.map((wanted) => {
    const server = byName.get(catalog.resolveServer(wanted) ?? '')
    if (!server) throw new Scope(all).unavailable(wanted)
    return server
  })
  return new Scope([...new Set(chosen)])
}
