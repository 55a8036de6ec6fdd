// Which connections there are. One that has not shown the token is a stranger: few of those are kept, not for long, and never in the place of one that has.
// Clients that come at the same moment are strangers all at once, so a connection is only closed for others after it had time to show the token.
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  /** Connections that have shown the token. */
  connections: number
  /** Those that have not, and had `newcomerMs` to do so. Beyond that, the one that has been open the longest is closed. */
  strangers: number
  /** How long a connection may take until it shows the token. */
  strangerMs: number
  /** Strangers at any moment, however new. */
  newcomers: number
  newcomerMs: number
}

interface Stranger {
  /** Not new any more. */
  isOld: boolean
  timers: NodeJS.Timeout[]
}

export class Connections {
  readonly #limits: ConnectionLimits
  /** In the order in which they were opened. */
  readonly #strangers = new Map<Socket, Stranger>()
  readonly #known = new Set<Socket>()
  #oldCount = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  add(socket: Socket): void {
    const { strangerMs, newcomerMs, newcomers } = this.#limits
    const stranger: Stranger = { isOld: false, timers: [] }
    stranger.timers.push(
      // Once more through the event loop: what it has sent may wait to be read because the bridge was busy.
      setTimeout(() => setImmediate(() => this.#growOld(stranger)), newcomerMs).unref(),
      setTimeout(() => socket.destroy(), strangerMs).unref(),
    )
    this.#strangers.set(socket, stranger)
    socket.once('close', () => {
      this.#forgetStranger(socket)
      this.#known.delete(socket)
    })
    if (this.#strangers.size > newcomers) this.#dropOldest()
  }

  /** It has shown the token. @returns false when there are too many that have */
  admit(socket: Socket): boolean {
    if (this.#known.has(socket)) return true
    if (this.#known.size >= this.#limits.connections) return false
    this.#forgetStranger(socket)
    this.#known.add(socket)
    return true
  }

  /** End all that have not shown it, also where a handshake has not ended. */
  dropStrangers(): void {
    for (const socket of this.#strangers.keys()) socket.destroy()
  }

  #growOld(stranger: Stranger): void {
    if (stranger.timers.length === 0) return
    stranger.isOld = true
    this.#oldCount += 1
    if (this.#oldCount > this.#limits.strangers) this.#dropOldest()
  }

  #dropOldest(): void {
    const [oldest] = this.#strangers.keys()
    if (oldest === undefined) return
    this.#forgetStranger(oldest)
    oldest.destroy()
  }

  #forgetStranger(socket: Socket): void {
    const stranger = this.#strangers.get(socket)
    if (!stranger) return
    for (const timer of stranger.timers.splice(0)) clearTimeout(timer)
    if (stranger.isOld) this.#oldCount -= 1
    this.#strangers.delete(socket)
  }
}
