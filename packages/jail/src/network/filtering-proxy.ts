// The only way out of a jail with a filtered network: an HTTP proxy on a Unix socket that connects only to allowed
// hosts. It resolves names itself and dials the addresses that it has checked, so that DNS cannot be changed in
// between.
import { lookup as systemLookup, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { listen } from '@sandbridge/core/util/net'
import { shortName, visibleInline } from '@sandbridge/core/util/text'
import { type AllowedDomains, bareHost } from './allowed-domains.ts'
import { isPublicAddress } from './public-address.ts'

const CONNECT_TIMEOUT_MS = 30_000
const MAX_CONNECTIONS = 256
const MAX_HEADER_BYTES = 64 * 1024
/** RFC 9110, section 7.6.1: for the next hop only, which is this proxy. */
const HOP_HEADERS = ['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade']

/** `dns.lookup` with all addresses. */
export type LookupAll = (
  host: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export interface FilteringProxyOptions {
  socketPath: string
  domains: AllowedDomains
  /** Receives a refused host, safe to display, and the reason. */
  onRefused: (host: string, reason: string) => void
  lookup?: LookupAll
}

export interface FilteringProxy {
  /** Closes all connections. */
  close(): void
}

interface Target {
  host: string
  port: number
}

/** @throws NodeJS.ErrnoException when the socket cannot be created */
export async function startFilteringProxy(options: FilteringProxyOptions): Promise<FilteringProxy> {
  const { socketPath, domains, onRefused, lookup = systemLookup } = options
  const open = new Set<Duplex>()
  const track = (stream: Duplex): void => {
    open.add(stream)
    stream.once('close', () => open.delete(stream))
  }
  /** Undefined when the target may be dialled, otherwise the reason. */
  const refusal = ({ host, port }: Target): string | undefined => {
    const reason = domains.allows(host, port)
      ? isIP(host) && !isPublicAddress(host) && !domains.allowsPrivate(host, port)
        ? 'is not an address of the public internet'
        : undefined
      : 'is not among its allowedDomains'
    if (reason !== undefined) onRefused(shownHost(host), reason)
    return reason
  }
  const dial = ({ host, port }: Target): Socket => {
    const checked: LookupFunction = (name, lookupOptions, callback) => {
      lookup(name, { ...lookupOptions, all: true }, (error, addresses) => {
        const [first] = addresses ?? []
        if (error || !first) return callback(error ?? new Error('no address'), '', 0)
        const isPublic = domains.allowsPrivate(host, port) || addresses.every(({ address }) => isPublicAddress(address))
        if (!isPublic || addresses.some(({ address }) => domains.denies(address, port))) {
          const reason = `leads to an address that is ${isPublic ? 'among its deniedDomains' : 'not public'}`
          onRefused(shownHost(host), reason)
          return callback(new RefusedAddressError(reason), '', 0)
        }
        if (lookupOptions.all) callback(null, addresses)
        else callback(null, first.address, first.family)
      })
    }
    const socket = connect({ host, port, lookup: checked })
    track(socket)
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => socket.destroy(new Error('no connection in time')))
    socket.once('connect', () => socket.setTimeout(0))
    return socket
  }

  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES })
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', track)
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => {})
    const target = authority(request.url ?? '')
    if (!target) return answer(client, 400, 'the address of this request cannot be read')
    const reason = refusal(target)
    if (reason !== undefined) return answer(client, 403, `${shownHost(target.host)} ${reason}`)
    const remote = dial(target)
    let isOpen = false
    remote.once('connect', () => {
      isOpen = true
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      if (head.length > 0) remote.write(head)
      remote.pipe(client).pipe(remote)
    })
    remote.on('error', (error) => {
      if (isOpen) return void client.destroy()
      if (error instanceof RefusedAddressError) return answer(client, 403, `${shownHost(target.host)} ${error.message}`)
      answer(client, 502, `${shownHost(target.host)} could not be reached${reasonOf(error)}`)
    })
    client.once('close', () => remote.destroy())
    remote.once('close', () => client.end())
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    forward(request, response, refusal, dial),
  )
  await listen(server, { path: socketPath })
  server.on('clientError', (_, socket) => socket.destroy())
  return {
    close() {
      server.close()
      for (const stream of open) stream.destroy()
    },
  }
}

/** Forwards a request for an `http:` address in the form that clients send to a proxy. */
function forward(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: (target: Target) => string | undefined,
  dial: (target: Target) => Socket,
): void {
  const fail = (status: number, text: string): void => {
    if (response.headersSent) return void response.destroy()
    response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(said(text))
  }
  const text = request.url ?? ''
  const url = /^http:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url) return fail(400, 'only requests for an http address can be forwarded')
  const target = { host: bareHost(url.hostname), port: Number(url.port || 80) }
  const reason = refusal(target)
  if (reason !== undefined) return fail(403, `${shownHost(target.host)} ${reason}`)
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !HOP_HEADERS.includes(name)))
  const outgoing = httpRequest({
    createConnection: () => dial(target),
    method: request.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
    // Request exactly the host that was checked.
    headers: { ...headers, host: url.host, connection: 'close' },
  })
  outgoing.on('response', (incoming) => {
    const kept = Object.entries(incoming.headers).filter(([name]) => !HOP_HEADERS.includes(name))
    response.writeHead(incoming.statusCode ?? 502, Object.fromEntries(kept))
    incoming.pipe(response)
    incoming.on('error', () => response.destroy())
  })
  outgoing.on('error', (error) => {
    if (error instanceof RefusedAddressError) return fail(403, `${shownHost(target.host)} ${error.message}`)
    fail(502, `${shownHost(target.host)} could not be reached${reasonOf(error)}`)
  })
  response.on('close', () => outgoing.destroy())
  request.pipe(outgoing)
}

function reasonOf({ code }: NodeJS.ErrnoException): string {
  return code === undefined ? '' : ` (${code})`
}

class RefusedAddressError extends Error {}

/** Parses `host:port` of a CONNECT, including `[::1]:443`. */
function authority(text: string): Target | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]{1,255}):(\d{1,5})$/i.exec(text)
  const port = Number(match?.[2])
  return match?.[1] !== undefined && port > 0 && port < 65_536 ? { host: bareHost(match[1]), port } : undefined
}

function answer(client: Duplex, status: number, text: string): void {
  const body = said(text)
  const head = `HTTP/1.1 ${status} ${status === 403 ? 'Forbidden' : 'Failed'}\r\ncontent-type: text/plain`
  client.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`)
}

const said = (text: string): string => `This server is jailed by Sandbridge: ${text}.\n`

const shownHost = (host: string): string => visibleInline(shortName(host))
