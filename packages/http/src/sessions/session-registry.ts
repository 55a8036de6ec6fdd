// The sessions of all HTTP clients, limited in number and idle time. Callers decide how a client names its own.
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { KeptFor } from '@sandbridge/core/cell/session/kept-for.ts'
import type { Session } from '@sandbridge/core/cell'

interface RegistryOptions {
  open: (kept: KeptFor, user: string | undefined) => Session
  /** Whether an earlier bridge kept a sandbox for this session. */
  keeps: (kept: ReturnType<KeptFor>) => Promise<boolean>
  close: (session: Session) => Promise<void>
  max: number
  /** Maximum for one user; missing means `max`. */
  maxOfUser?: number | undefined
}

interface HoldOptions {
  /** The owner of its sandbox, in case the sandbox outlives the bridge. */
  kept: KeptFor

  /** Missing for the holder of the bridge's own token. */
  user?: string | undefined
  /** How long it may stay unused, in ms; asked whenever the last use ends. */
  idleMs: () => number
  /** Whether it may be ended to make room although it has variables. */
  isExpendable: () => boolean
  /** Called when the session ends, for any reason. */
  onEnd: () => void
}

export class SessionRegistry {
  readonly #options: RegistryOptions
  /** Least recently used first. */
  readonly #held = new Set<HeldSession>()
  #hasStopped = false

  constructor(options: RegistryOptions) {
    this.#options = options
  }

  /** Refuses new sessions from now on: the bridge is about to end. */
  stop(): void {
    this.#hasStopped = true
  }

  keeps(kept: ReturnType<KeptFor>): Promise<boolean> {
    return this.#options.keeps(kept)
  }

  /** Opens a session. @throws BridgeError SESSION_LIMIT at the limit, when no session may be ended for it */
  hold(options: HoldOptions): HeldSession {
    const { open, close, max, maxOfUser = max } = this.#options
    const { user } = options
    if (this.#hasStopped) {
      throw new BridgeError('SESSION_LIMIT', 'The bridge is shutting down and accepts no new session. No code ran', {
        hint: 'Retry when it runs again.',
      })
    }
    const own = user === undefined ? [] : [...this.#held].filter((held) => held.user === user)
    if (own.length >= maxOfUser) {
      makeRoom(
        own,
        user,
        `You have ${own.length} sessions open, the most for one user`,
        'the setting http.userSessions',
      )
    } else if (this.#held.size >= max)
      makeRoom([...this.#held], user, `${max} sessions are open`, 'the setting http.sessions')
    const held: HeldSession = new HeldSession(open(options.kept, user), options, {
      onUse: () => {
        // A use that was under way when the session ended must not bring it back.
        if (this.#held.delete(held)) this.#held.add(held)
      },
      onEnd: async () => {
        this.#held.delete(held)
        options.onEnd()
        await close(held.session)
      },
    })
    this.#held.add(held)
    return held
  }
}

/**
 * Ends sessions without variables first, then those that their holder calls expendable, and no others. Of other
 * users, it is one who has most: more than the user who asks, and for a session with variables so many more that no
 * fewer are left.
 * @param all least recently used first
 */
function makeRoom(all: readonly HeldSession[], asking: string | undefined, problem: string, setting: string): void {
  const idle = all.filter((held) => !held.isBusy)
  const counts = new Map<string | undefined, number>()
  const countOf = (user: string | undefined): number => counts.get(user) ?? 0
  for (const { user } of all) counts.set(user, countOf(user) + 1)
  const mayEnd = ({ user }: HeldSession, more: number): boolean =>
    user === asking || countOf(user) >= countOf(asking) + more
  const ofMost = (held: readonly HeldSession[]): HeldSession | undefined =>
    held.toSorted((one, other) => countOf(other.user) - countOf(one.user))[0]
  const leaver =
    ofMost(idle.filter((held) => !held.hasVariables && mayEnd(held, 1))) ??
    ofMost(idle.filter((held) => held.isExpendable && mayEnd(held, 2)))
  if (leaver) return void leaver.end()
  throw new BridgeError('SESSION_LIMIT', `${problem}, and all of them are in use or hold variables`, {
    hint: `Retry when one of them has ended, or raise ${setting}.`,
  })
}

export class HeldSession {
  readonly session: Session
  readonly #options: HoldOptions
  readonly #registry: { onUse: () => void; onEnd: () => Promise<void> }
  #users = 0
  #idleTimer: NodeJS.Timeout | undefined
  #hasEnded = false
  #closed: Promise<void> = Promise.resolve()

  constructor(session: Session, options: HoldOptions, registry: { onUse: () => void; onEnd: () => Promise<void> }) {
    this.session = session
    this.#options = options
    this.#registry = registry
    this.#startIdleTimer()
  }

  get user(): string | undefined {
    return this.#options.user
  }

  get isBusy(): boolean {
    return this.#users > 0
  }

  get hasVariables(): boolean {
    return this.session.describe().cellCount > 0
  }

  get isExpendable(): boolean {
    return this.#options.isExpendable()
  }

  /** Marks the session as in use until the returned function is called. */
  enter(): () => void {
    this.#users += 1
    clearTimeout(this.#idleTimer)
    this.#registry.onUse()
    let left = false
    return () => {
      if (left) return
      left = true
      this.#users -= 1
      if (this.#users === 0) this.#startIdleTimer()
    }
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    const leave = this.enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /** Ends the session and what runs in it. May be called again while it ends. */
  end(): Promise<void> {
    if (this.#hasEnded) return this.#closed
    this.#hasEnded = true
    clearTimeout(this.#idleTimer)
    this.#closed = this.#registry.onEnd()
    return this.#closed
  }

  #startIdleTimer(): void {
    if (this.#hasEnded) return
    this.#idleTimer = setTimeout(() => void this.end(), this.#options.idleMs()).unref()
  }
}
