// Tracks open connections. One that has not sent the token is a stranger: few are kept, for a short time, and never at
// the expense of one that has. Clients that connect at the same moment are all strangers at first, so each has time to
// send the token before it is closed in favour of others.
import type { Socket } from 'node:net'
import { Shares } from './shares.ts'

export interface ConnectionLimits {
  /** Connections that have sent the token. */
  connections: number
  /** Strangers older than `newcomerMs`. Beyond this number, the oldest one is closed. */
  strangers: number
  /** How long a connection may take to send the token. */
  strangerMs: number
  /** Strangers in all, however new. */
  newcomers: number
  newcomerMs: number
}

interface Stranger {
  /** Open for longer than `newcomerMs`. */
  isOld: boolean
  timers: NodeJS.Timeout[]
}

export class Connections {
  readonly #limits: ConnectionLimits
  /** In the order in which they connected. */
  readonly #strangers = new Map<Socket, Stranger>()
  readonly #known = new Set<Socket>()
  readonly #shares: Shares
  #oldCount = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
    this.#shares = new Shares(limits.connections)
  }

  add(socket: Socket): void {
    const { strangerMs, newcomerMs, newcomers } = this.#limits
    const stranger: Stranger = { isOld: false, timers: [] }
    stranger.timers.push(
      // One more turn of the event loop: a busy bridge may not have read yet what the connection sent.
      setTimeout(() => setImmediate(() => this.#growOld(stranger)), newcomerMs).unref(),
      setTimeout(() => socket.destroy(), strangerMs).unref(),
    )
    this.#strangers.set(socket, stranger)
    socket.once('close', () => {
      this.#forgetStranger(socket)
    })
    if (this.#strangers.size > newcomers) this.#dropOldest()
  }

  /**
   * The connection has sent the token.
   * @param user as in `Shares`; missing for a proxy, which sends requests of many
   * @returns false when too many such connections are open
   */
  admit(socket: Socket, user?: object): boolean {
    if (this.#known.has(socket)) return true
    // The `close` event, which frees its place, may have come already.
    if (socket.destroyed || !this.#shares.take(user)) return false
    this.#forgetStranger(socket)
    this.#known.add(socket)
    socket.once('close', () => {
      this.#known.delete(socket)
      this.#shares.giveBack(user)
    })
    return true
  }

  /** Ends all strangers, including those still in a TLS handshake. */
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
