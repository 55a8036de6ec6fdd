// Listens on the port, with TLS when certificate files are given, and limits what connections can use up.
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Log } from '@sandbridge/core/util'
import { type ConnectionLimits, Connections } from '../requests/connections.ts'
import type { Address } from './address.ts'
import { readTls, type TlsFiles, watchTls } from './tls-files.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

interface ListenerOptions extends Address {
  /** Missing means plain HTTP. */
  tls?: TlsFiles | undefined
  proxies: TrustedProxies
  limits: ConnectionLimits & { requestMs: number; stallMs: number }
  log: Log
  onRequest: RequestListener
}

export interface Listener {
  /** Scheme, host and port; no path. */
  origin: string
  /**
   * The client of this request's socket has sent its token.
   * @param user stands for the user of the token
   * @returns false when too many such connections are open
   */
  admit(socket: Socket, user: object): boolean
  stop(): void
  /** Ends the open connections. */
  close(): void
}

/** @throws BridgeError CONFIG_INVALID when the address cannot be listened on or the TLS files are invalid */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { host, port, tls, proxies, limits, log, onRequest } = options
  const connections = new Connections(limits)
  const raw = new RawSockets()
  const timeouts = {
    requestTimeout: limits.requestMs,
    headersTimeout: limits.requestMs,
    connectionsCheckingInterval: 1_000,
    // After Node's 5 s, a bridge that was busy for so long closes connections whose next request it has not read yet.
    keepAliveTimeout: limits.stallMs,
  }
  const secure =
    tls && createSecureServer({ ...timeouts, ...(await readTls(tls)), handshakeTimeout: limits.strangerMs }, onRequest)
  const server: Server = secure ?? createServer(timeouts, onRequest)
  // With TLS, this event precedes the handshake.
  server.on('connection', (socket) => {
    raw.add(socket)
    connections.add(socket)
    // A proxy sends no token of its own, and one connection may carry requests of all its clients.
    if (proxies.isTrusted(socket.remoteAddress) && !connections.admit(socket)) socket.destroy()
  })
  secure?.on('secureConnection', (socket) => raw.secured(socket))
  server.setTimeout(limits.stallMs)
  await listen(server, { host, port })
  // For example, no file descriptor is left for a connection.
  server.on('error', (error) => log.warning('Accepting a connection failed', { error }))
  const use = (context: SecureContextOptions) => secure?.setSecureContext(context)
  const unwatch = tls && watchTls(tls, { use, log })
  const shownHost = host.includes(':') ? `[${host}]` : host
  return {
    origin: `${tls ? 'https' : 'http'}://${shownHost}:${(server.address() as AddressInfo).port}`,
    admit: (socket, user) => connections.admit(raw.of(socket), user),
    stop: () => {
      unwatch?.()
      server.close()
    },
    close: () => {
      server.closeAllConnections()
      connections.dropStrangers()
    },
  }
}

async function listen(server: Server, { host, port }: Address): Promise<void> {
  await once(server.listen(port, host), 'listening').catch((cause: Error) => {
    throw new BridgeError('CONFIG_INVALID', `--http: ${host}:${port} cannot listen: ${cause.message}`, { cause })
  })
}

// Maps each TLS socket to its raw connection. Limits apply to the raw one, which exists before the handshake; requests
// have only the TLS one. Node does not link the two, but both have the same peer address and port, which no other open
// connection has.
class RawSockets {
  readonly #byPeer = new Map<string, Socket>()
  readonly #under = new WeakMap<Socket, Socket>()

  /** Records a new connection. */
  add(raw: Socket): void {
    const peer = peerOf(raw)
    this.#byPeer.set(peer, raw)
    raw.once('close', () => {
      if (this.#byPeer.get(peer) === raw) this.#byPeer.delete(peer)
    })
  }

  /** The TLS handshake has completed. */
  secured(secure: Socket): void {
    const raw = this.#byPeer.get(peerOf(secure))
    if (raw) this.#under.set(secure, raw)
    else secure.destroy()
  }

  /** The raw connection; without TLS, the socket itself. */
  of(socket: Socket): Socket {
    return this.#under.get(socket) ?? socket
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
