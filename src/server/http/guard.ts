// Who is let in, decided before a byte of a request's body is read: whoever names this machine, does not come from a web page of elsewhere, and has the token.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { hostHeaderValidation, localhostOriginValidation } from '@modelcontextprotocol/node'
import { localhostAllowedHostnames } from '@modelcontextprotocol/server'
import { refuse } from './refuse.ts'

export interface GuardOptions {
  /** What the bridge listens on. */
  host: string
  token: string
}

/** Whether a request may go on; one that may not has been answered. */
export type Guard = (request: IncomingMessage, response: ServerResponse) => boolean

export function createGuard({ host, token }: GuardOptions): Guard {
  const isRightHost = isLoopback(host)
    ? hostHeaderValidation([...localhostAllowedHostnames(), host])
    : anyAddressOr([host, hostname()])
  const isRightOrigin = localhostOriginValidation()
  const expected = digest(token)
  return (request, response) => {
    if (!isRightHost(request, response) || !isRightOrigin(request, response)) return false
    const [, given = ''] = /^Bearer ([\x21-\x7e]+)$/i.exec(request.headers.authorization ?? '') ?? []
    if (timingSafeEqual(digest(given), expected)) return true
    response.setHeader('www-authenticate', 'Bearer')
    refuse(response, 401, 'Send the token of this server: Authorization: Bearer TOKEN')
    return false
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** DNS rebinding makes a name of the attacker's mean this machine. An address means what it says. */
function anyAddressOr(names: string[]): Guard {
  const isRightName = hostHeaderValidation(['localhost', ...names.map((name) => name.toLowerCase())])
  return (request, response) => {
    const [, v6, v4] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/.exec(request.headers.host ?? '') ?? []
    return isIP(v6 ?? v4 ?? '') > 0 || isRightName(request, response)
  }
}

/** Of equal length whatever was sent, so that comparing takes equally long. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
