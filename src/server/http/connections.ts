// Which connections there are. One that has not shown the token is a stranger: few of those are kept, not for long, and never in the place of one that has.
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  /** Connections that have shown the token. */
  connections: number
  /** Those that have not. Beyond that, the one that has been open the longest is closed. */
  strangers: number
  /** How long a connection may take until it shows the token. */
  strangerMs: number
}

export class Connections {
  readonly #limits: ConnectionLimits
  /** In the order in which they were opened. */
  readonly #strangers = new Map<Socket, NodeJS.Timeout>()
  readonly #known = new Set<Socket>()

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  add(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), this.#limits.strangerMs).unref()
    this.#strangers.set(socket, timer)
    socket.once('close', () => {
      this.#forgetStranger(socket)
      this.#known.delete(socket)
    })
    for (const [oldest] of this.#strangers) {
      if (this.#strangers.size <= this.#limits.strangers) break
      this.#forgetStranger(oldest)
      oldest.destroy()
    }
  }

  /** It has shown the token. @returns false when there are too many that have */
  admit(socket: Socket): boolean {
    if (this.#known.has(socket)) return true
    if (this.#known.size >= this.#limits.connections) return false
    this.#forgetStranger(socket)
    this.#known.add(socket)
    return true
  }

  #forgetStranger(socket: Socket): void {
    clearTimeout(this.#strangers.get(socket))
    this.#strangers.delete(socket)
  }
}
