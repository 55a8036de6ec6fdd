// Lets in, before the body is read, requests to this machine by name, from no other site, with a token.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import type { Log } from '@sandbridge/core/util'
import { isHttpUrl, isLoopback } from '@sandbridge/core/util/net'
import { shortName } from '@sandbridge/core/util/text'
import type { Client, FindClient } from './find-client.ts'
import { BearerRefusal } from '../oauth/bearer-refusal.ts'
import { hostOf, isAddress, isLoopbackName, LOOPBACK_NAMES, originHost } from '../requests/origin-headers.ts'
import { refuse } from '../refuse.ts'
import type { TrustedProxies } from '../sockets/trusted-proxies.ts'

export interface GuardOptions {
  /** The host that the bridge listens on. */
  host: string
  /** The addresses that clients use, and names of hosts. */
  publicNames: readonly string[]
  proxies: TrustedProxies
  findClient: FindClient
  /** The WWW-Authenticate header of a 401 or 403 response. */
  challenge: (refusal?: BearerRefusal) => string
  log: Log
}

const WRONG_TOKEN = 'This token is not valid: it is unknown, has expired or was revoked'

/** For a client whose token cannot be checked at the moment. */
const RETRY_AFTER_S = 10

/** Both functions send the refusal themselves. */
export interface Guard {
  /** Whether the request names this machine and does not come from another site's web page. */
  isAddressed: (request: IncomingMessage, response: ServerResponse) => boolean
  /** The client of the request; undefined when it was refused. */
  letIn: (request: IncomingMessage, response: ServerResponse) => Promise<Client | undefined>
}

/** Two of the same header could mean one thing to the bridge and another to a proxy in front of it. */
const ONCE = ['host', 'origin', 'authorization']

export function createGuard({ host, publicNames, proxies, findClient, challenge, log }: GuardOptions): Guard {
  const urls = publicNames.filter(isHttpUrl).map((one) => new URL(one))
  const hostsOf = (all: URL[]): string[] => all.map((url) => url.hostname.replace(/[[\]]/g, ''))
  // Of a browser's extension or an app, an origin is what the setting has: `URL` knows none of them.
  const origins = new Set([...urls.map((url) => url.origin), ...publicNames.filter((one) => one.includes('://'))])
  const isSecure = urls[0]?.protocol === 'https:'
  /** Listed without https. */
  const plainNames = lowerCase([
    ...publicNames.filter((one) => !one.includes('://')),
    ...hostsOf(urls.filter(({ protocol }) => protocol === 'http:')),
  ])
  const names = lowerCase([...LOOPBACK_NAMES, host, ...(isLoopback(host) ? [] : [hostname()]), ...hostsOf(urls)])
  // With DNS rebinding, a name of the attacker's points to this machine. A literal address cannot be rebound.
  const isOurs = (name: string): boolean =>
    names.has(name) || plainNames.has(name) || (!isLoopback(host) && isAddress(name))

  const isAddressed: Guard['isAddressed'] = (request, response) => {
    const { headersDistinct } = request
    const twice = ONCE.find((name) => (headersDistinct[name]?.length ?? 0) > 1)
    if (twice !== undefined) return refuseAndClose(response, 400, `Send one ${twice} header`)
    const sender = proxies.senderOf(request)
    if (!sender) return refuseAndClose(response, 400, 'Send one X-Forwarded-Host and one X-Forwarded-Proto')
    const name = hostOf(sender.host)
    if (isSecure && sender.protocol === 'http' && (name === undefined || !plainNames.has(name)))
      return refuseAndClose(response, 403, 'Use https: the token must not be sent unencrypted')
    if (name === undefined || !isOurs(name)) return refuseAndClose(response, 403, unknownHost(name))
    const { origin } = request.headers
    if (origin !== undefined && !origins.has(origin) && !isLoopbackName(originHost(origin))) {
      return refuseAndClose(response, 403, unknownOrigin(origin))
    }
    return true
  }

  const letIn: Guard['letIn'] = async (request, response) => {
    if (!isAddressed(request, response)) return undefined
    if (request.headers.origin !== undefined && showsTo(request.headers.origin, request, response)) return undefined
    const [, given = ''] = /^Bearer +([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '') ?? []
    const known = await findClient(given).catch((error: unknown) => {
      if (error instanceof BearerRefusal) return error
      throw error
    })
    const found = known ?? (given === '' ? undefined : new BearerRefusal('invalid', WRONG_TOKEN))
    // The client may have disconnected meanwhile.
    if (response.destroyed) return undefined
    if (found && !(found instanceof BearerRefusal)) return found
    const status = found?.kind.status ?? 401
    log.debug('A request was refused', { status, address: proxies.senderOf(request)?.address })
    if (status === 503) response.setHeader('retry-after', RETRY_AFTER_S)
    else response.setHeader('www-authenticate', challenge(found))
    refuseAndClose(response, status, found?.message ?? 'Authentication required: send Authorization: Bearer TOKEN')
    return undefined
  }
  return { isAddressed, letIn }
}

/**
 * Lets web pages of an allowed origin read responses (Fetch standard, CORS). A browser asks first, without a token.
 * @returns whether that was all, and is answered
 */
function showsTo(origin: string, { method, headers }: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', 'mcp-session-id, www-authenticate, retry-after')
  response.setHeader('vary', 'origin')
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
  const asked = headers['access-control-request-headers']
  if (asked !== undefined) response.setHeader('access-control-allow-headers', asked)
  response
    .writeHead(204, { 'access-control-allow-methods': 'GET, POST, DELETE', 'access-control-max-age': '600' })
    .end()
  return true
}

function refuseAndClose(response: ServerResponse, status: number, message: string): false {
  refuse(response, status, message, { close: true })
  return false
}

function unknownOrigin(origin: string): string {
  return `The Origin ${shortName(origin)} is not allowed. If you trust its pages, add it to MCP_BRIDGE_PUBLIC_URL`
}

function unknownHost(name: string | undefined): string {
  if (name === undefined)
    return 'The Host header is not the name of a host. This server has those in MCP_BRIDGE_PUBLIC_URL'
  return `The Host header names ${name}, which is not known to be this server. If it is, add it to MCP_BRIDGE_PUBLIC_URL`
}

function lowerCase(names: readonly string[]): Set<string> {
  return new Set(names.map((name) => name.toLowerCase()))
}
