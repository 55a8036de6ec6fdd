// The raw connection under each TLS one. Limits are held by the raw one, which is there before the handshake; requests know the other.
// Node does not tell which belong together, but both have one peer, and no two open connections have the same.
import type { Socket } from 'node:net'

export class RawSockets {
  readonly #byPeer = new Map<string, Socket>()
  readonly #under = new WeakMap<Socket, Socket>()

  /** A connection has been made. */
  add(raw: Socket): void {
    const peer = peerOf(raw)
    this.#byPeer.set(peer, raw)
    raw.once('close', () => {
      if (this.#byPeer.get(peer) === raw) this.#byPeer.delete(peer)
    })
  }

  /** Its handshake has ended. */
  secured(secure: Socket): void {
    const raw = this.#byPeer.get(peerOf(secure))
    if (raw) this.#under.set(secure, raw)
    else secure.destroy()
  }

  /** The socket itself where there is no TLS. */
  of(socket: Socket): Socket {
    return this.#under.get(socket) ?? socket
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
