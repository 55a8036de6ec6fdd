// Maps each TLS socket to its raw connection. Limits apply to the raw one, which exists before the handshake; requests
// have only the TLS one. Node does not link the two, but both have the same peer address and port, which no other open
// connection has.
import type { Socket } from 'node:net'

export class RawSockets {
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
