// Watches for idle servers: stops one after its idle timeout, and pings a remote one.
import type { Connection } from '../connection/connection.ts'
import type { UpstreamPlace } from './upstream-place.ts'

/** How long a remote connection may be idle before the bridge pings it. */
const PING_AFTER_MS = 5 * 60_000

interface Idle {
  /** The server has reached its idle timeout. */
  onIdle: () => void
  /** A remote server did not answer a ping. */
  onGone: (connection: Connection) => void
}

export class IdleWatch {
  /** When the server was last used, by `now`. */
  lastUsed = 0
  readonly #place: Pick<UpstreamPlace, 'idleMs' | 'now'>
  readonly #isProcess: boolean
  readonly #subscriber: Idle
  #useCount = 0
  #onUnused: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(place: Pick<UpstreamPlace, 'idleMs' | 'now'>, isProcess: boolean, subscriber: Idle) {
    this.#place = place
    this.#isProcess = isProcess
    this.#subscriber = subscriber
  }

  get isInUse(): boolean {
    return this.#useCount > 0
  }

  /** Resolves when nothing uses the server, nor waits for its start. Only one caller may wait at a time. */
  unused(): Promise<void> {
    if (!this.isInUse) return Promise.resolve()
    return new Promise((resolve) => (this.#onUnused = resolve))
  }

  enter(): void {
    this.#useCount += 1
  }

  leave(connection: Connection | undefined): void {
    this.#useCount -= 1
    this.touch(connection)
    if (!this.isInUse) this.#onUnused?.()
  }

  /** @param connection missing while the server does not run */
  touch(connection: Connection | undefined): void {
    this.lastUsed = this.#place.now()
    this.#watch(connection)
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  #watch(connection: Connection | undefined): void {
    clearTimeout(this.#timer)
    if (!connection || this.isInUse) return
    const { idleMs, now } = this.#place
    const leftMs = idleMs > 0 ? this.lastUsed + idleMs - now() : Infinity
    const waitMs = Math.min(leftMs, this.#isProcess ? Infinity : PING_AFTER_MS)
    if (waitMs === Infinity) return
    this.#timer = setTimeout(() => {
      // A call that began meanwhile calls #watch again when it ends.
      if (this.isInUse) return
      if (waitMs === leftMs) return this.#subscriber.onIdle()
      // A failed ping is not reported: the next use reconnects.
      connection.ping().then(
        () => this.#watch(connection),
        () => this.#subscriber.onGone(connection),
      )
    }, waitMs).unref()
  }
}

const ANSWER_WITHIN_MS = 2_000

type Asked = Pick<Connection, 'answers'>

/** Finds out by a ping whether a server that left a call unanswered still answers anything. */
export class Silence {
  readonly #withinMs: number
  /** The latest ping that was not answered, or not yet. */
  #latest: { connection: Asked; answers: Promise<boolean>; isOver: boolean } | undefined

  constructor(withinMs = ANSWER_WITHIN_MS) {
    this.#withinMs = withinMs
  }

  /** Whether the server behind this connection was asked, and has not answered. */
  doubts(connection: Asked): boolean {
    return this.#latest?.connection === connection
  }

  /** Resolves with whether the server answers a ping. Callers at the same time share one. Never rejects. */
  ask(connection: Asked): Promise<boolean> {
    if (this.#latest && this.doubts(connection) && !this.#latest.isOver) return this.#latest.answers
    const latest = { connection, isOver: false, answers: connection.answers(this.#withinMs) }
    this.#latest = latest
    void latest.answers.then((doesAnswer) => {
      latest.isOver = true
      if (doesAnswer && this.#latest === latest) this.#latest = undefined
    })
    return latest.answers
  }

  /** Resolves with whether the server that was last asked left the ping unanswered. */
  async isDeaf(): Promise<boolean> {
    return this.#latest !== undefined && !(await this.#latest.answers)
  }
}
