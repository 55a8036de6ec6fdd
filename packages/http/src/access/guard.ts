// Decides which requests are let in, before any byte of the body is read: the request must name this machine, not come
// from another site, and carry a token.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import type { Log } from '@sandbridge/core/util/log.ts'
import { isLoopback } from '@sandbridge/core/util/net/loopback.ts'
import type { Client, FindClient } from './find-client.ts'
import { BearerRefusal } from '../oauth/bearer-refusal.ts'
import {
  hostOf,
  isAddress,
  isLoopbackName,
  LOOPBACK_NAMES,
  originHost,
} from '@sandbridge/core/serve/requests/origin-headers.ts'
import { refuse } from '../refuse.ts'
import type { TrustedProxies } from '../sockets/trusted-proxies.ts'

export interface GuardOptions {
  /** The host that the bridge listens on. */
  host: string
  /** The address that clients use, if one is set. */
  publicUrl?: string | undefined
  proxies: TrustedProxies
  findClient: FindClient
  /** The WWW-Authenticate header of a 401 or 403 response. */
  challenge: (refusal?: BearerRefusal) => string
  log: Log
}

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

export function createGuard({ host, publicUrl, proxies, findClient, challenge, log }: GuardOptions): Guard {
  const at = publicUrl === undefined ? undefined : new URL(publicUrl)
  const names = new Set(
    [
      ...LOOPBACK_NAMES,
      host,
      ...(isLoopback(host) ? [] : [hostname()]),
      ...(at ? [at.hostname.replace(/[[\]]/g, '')] : []),
    ].map((n) => n.toLowerCase()),
  )
  // With DNS rebinding, a name of the attacker's points to this machine. A literal address cannot be rebound.
  const isOurs = (name: string): boolean => names.has(name) || (!isLoopback(host) && isAddress(name))

  const isAddressed: Guard['isAddressed'] = (request, response) => {
    const { headersDistinct } = request
    const twice = ONCE.find((name) => (headersDistinct[name]?.length ?? 0) > 1)
    if (twice !== undefined) return refuseAndClose(response, 400, `Send one ${twice} header`)
    const sender = proxies.senderOf(request)
    if (!sender) return refuseAndClose(response, 400, 'Send one X-Forwarded-Host and one X-Forwarded-Proto')
    if (at?.protocol === 'https:' && sender.protocol === 'http')
      return refuseAndClose(response, 403, 'Use https: the token must not be sent unencrypted')
    const name = hostOf(sender.host)
    if (name === undefined || !isOurs(name))
      return refuseAndClose(response, 403, 'The Host header does not name this server')
    const { origin } = request.headers
    if (origin !== undefined && origin !== at?.origin && !isLoopbackName(originHost(origin))) {
      return refuseAndClose(response, 403, 'This Origin is not allowed')
    }
    return true
  }

  const letIn: Guard['letIn'] = async (request, response) => {
    if (!isAddressed(request, response)) return undefined
    const [, given = ''] = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '') ?? []
    const found = await findClient(given).catch((error: unknown) => {
      if (error instanceof BearerRefusal) return error
      throw error
    })
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

function refuseAndClose(response: ServerResponse, status: number, message: string): false {
  refuse(response, status, message, { close: true })
  return false
}
