// Tells clients where to sign in: the metadata of this server as an OAuth resource (RFC 9728), and the challenge that
// points to it (MCP 2025-11-25 and 2026-07-28, Authorization).
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from '../refuse.ts'
import { bearerChallenge, type BearerRefusal } from './bearer-refusal.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

interface ResourceOptions {
  /** The address that clients use. */
  resource: () => string
  issuers: readonly string[]
  scopes: readonly string[]
}

export class ProtectedResource {
  readonly #options: ResourceOptions

  constructor(options: ResourceOptions) {
    this.#options = options
  }

  /** Whether a request's path is that of the metadata. @param mcpPath where MCP is served */
  isMetadata(path: string, mcpPath: string): boolean {
    const { pathname } = new URL(this.#options.resource())
    return [WELL_KNOWN, WELL_KNOWN + mcpPath, WELL_KNOWN + pathname].includes(path)
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return refuse(response, 405, 'Method not allowed')
    }
    const { resource, issuers, scopes } = this.#options
    const metadata = {
      resource: resource(),
      resource_name: 'Sandbridge',
      authorization_servers: issuers,
      bearer_methods_supported: ['header'],
      ...(scopes.length > 0 && { scopes_supported: scopes }),
    }
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify(metadata))
  }

  /** The value of WWW-Authenticate. @param refusal missing when the request had no token */
  challenge(refusal?: BearerRefusal): string {
    const { resource, scopes } = this.#options
    const { origin, pathname } = new URL(resource())
    const parameters = {
      resource_metadata: `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    }
    return bearerChallenge(parameters, refusal)
  }
}
