// A registry on this machine that follows the published API: pages of servers with a cursor, changes since a time, an
// ETag.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface ListedEntry {
  server: Record<string, unknown>
  _meta: Record<string, unknown>
}

/** One item of a list, with the official registry's metadata. */
export function listed(
  server: Record<string, unknown>,
  about: { status?: string; updatedAt?: string } = {},
): ListedEntry {
  const { status = 'active', updatedAt = '2026-01-01T00:00:00Z' } = about
  return {
    server: { version: '1.0.0', description: 'A server', ...server },
    _meta: {
      'io.modelcontextprotocol.registry/official': { status, isLatest: true, publishedAt: updatedAt, updatedAt },
    },
  }
}

export class FakeRegistry {
  servers: ListedEntry[]
  pageSize = 100
  /** May respond instead of the list. */
  instead: ((request: IncomingMessage, response: ServerResponse, url: URL) => boolean) | undefined
  readonly requests: URL[] = []
  readonly #http = createServer((request, response) => this.#answer(request, response))

  constructor(servers: ListedEntry[]) {
    this.servers = servers
  }

  static async start(servers: ListedEntry[] = []): Promise<FakeRegistry> {
    const registry = new FakeRegistry(servers)
    registry.#http.listen(0, '127.0.0.1')
    await once(registry.#http, 'listening')
    return registry
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections()
    this.#http.close()
    await once(this.#http, 'close')
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.address)
    this.requests.push(url)
    if (this.instead?.(request, response, url)) return
    if (url.pathname !== '/v0.1/servers') return void response.writeHead(404).end()
    const since = url.searchParams.get('updated_since') ?? ''
    const matching = this.servers.filter(({ _meta }) => {
      const { updatedAt } = _meta['io.modelcontextprotocol.registry/official'] as { updatedAt: string }
      return updatedAt > since
    })
    const start = Number(url.searchParams.get('cursor') ?? 0)
    const servers = matching.slice(start, start + this.pageSize)
    const next = start + this.pageSize < matching.length ? String(start + this.pageSize) : undefined
    const body = JSON.stringify({ servers, metadata: { count: servers.length, ...(next && { nextCursor: next }) } })
    const etag = `"${body.length}"`
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
    response.writeHead(200, { 'content-type': 'application/json', etag }).end(body)
  }
}
