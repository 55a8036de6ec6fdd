// The sessions of all clients over HTTP: limited in number, and each expires when it is not used for a while.
// It says nothing of how a client names its session; that is for those who hold one.
import { BridgeError } from '../../errors.ts'
import type { KeptFor, Session } from '../../session/session.ts'

interface RegistryOptions {
  open: (kept: KeptFor) => Session
  /** Whether an earlier bridge kept a sandbox for this session. */
  keeps: (kept: ReturnType<KeptFor>) => Promise<boolean>
  close: (session: Session) => Promise<void>
  /** How many there may be at once. */
  max: number
  /** How many one user may have; missing means as many as there may be. */
  maxOfUser?: number | undefined
}

interface HoldOptions {
  /** Whose sandbox it is, should it outlive the bridge. */
  kept: KeptFor

  /** Missing for the holder of the bridge's own token. */
  user?: string | undefined
  /** How long it may lie unused; asked each time its last user has left. */
  idleMs: () => number
  /** Whether it may make room for another although it has variables. */
  isExpendable: () => boolean
  /** It has ended, for whatever reason. */
  onEnd: () => void
}

export class SessionRegistry {
  readonly #options: RegistryOptions
  /** The one that was used longest ago first. */
  readonly #held = new Set<HeldSession>()
  #hasStopped = false

  constructor(options: RegistryOptions) {
    this.#options = options
  }

  /** Give no new sessions from now on: the bridge is about to end. */
  stop(): void {
    this.#hasStopped = true
  }

  keeps(kept: ReturnType<KeptFor>): Promise<boolean> {
    return this.#options.keeps(kept)
  }

  /** A new session. @throws BridgeError SESSION_LIMIT at the limit, when no session may be ended for it */
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
      makeRoom(own, `You have ${own.length} sessions open, the most for one user`, 'MCP_BRIDGE_USER_SANDBOXES')
    } else if (this.#held.size >= max) makeRoom([...this.#held], `${max} sessions are open`, 'MCP_BRIDGE_HTTP_SESSIONS')
    const held: HeldSession = new HeldSession(open(options.kept), options, {
      onUse: () => {
        // Work that was on its way when it ended does not bring it back.
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
 * Sessions without variables are ended first, then those that their holder calls expendable. No other session is ended.
 * @param all the one that was used longest ago first
 */
function makeRoom(all: readonly HeldSession[], problem: string, setting: string): void {
  const idle = all.filter((held) => !held.isBusy)
  const leaver = idle.find((held) => !held.hasVariables) ?? idle.find((held) => held.isExpendable)
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

  /** Somebody uses it, until the function that this returns is called. */
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

  /** End the session, and with it what runs in it. What ends along with it may call this once more. */
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
