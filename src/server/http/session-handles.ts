// Sessions of clients whose requests stand alone (MCP 2026-07-28): the first result of run_python gives a handle, and calls that name it go on there.
// A handle is all that a client with the same token needs to get at the variables, so it cannot be guessed. Other tokens have handles of their own.
// One that stands for no session is an error, never a new session.
import { randomBytes } from 'node:crypto'
import { BridgeError } from '../../errors.ts'
import { keptForHandle, ownerOfHandle } from '../../session/kept-for.ts'
import type { Session } from '../../session/session.ts'
import type { Sessions } from '../sessions.ts'
import type { HeldSession, SessionRegistry } from './session-registry.ts'

/** 144 bits, as 24 characters. */
const HANDLE_BYTES = 18

interface HandleOptions {
  registry: SessionRegistry
  user: string | undefined
  idleMs: number
}

export class SessionHandles implements Sessions {
  readonly #options: HandleOptions
  readonly #held = new Map<string, HeldSession>()
  /** Clients that never come back with a handle must not keep others out. */
  readonly #cameBack = new WeakSet<HeldSession>()

  constructor(options: HandleOptions) {
    this.#options = options
  }

  async use<T>(handle: string | undefined, work: (session: Session, newHandle?: string) => Promise<T>): Promise<T> {
    if (handle === undefined) return this.#useNew(work)
    const held = this.#held.get(handle) ?? (await this.#findKept(handle))
    if (!held) {
      throw new BridgeError('SESSION_UNKNOWN', 'Unknown or expired session. No code ran, and its variables are gone')
    }
    this.#cameBack.add(held)
    return held.use(() => work(held.session))
  }

  *readable(): Iterable<Session> {
    for (const { session } of this.#held.values()) yield session
  }

  /** A session of an earlier bridge, whose sandbox it kept. */
  async #findKept(handle: string): Promise<HeldSession | undefined> {
    const { registry, user } = this.#options
    if (!(await registry.keeps(ownerOfHandle(handle, user)))) return undefined
    return this.#held.get(handle) ?? this.#hold(handle)
  }

  #hold(handle: string): HeldSession {
    const { registry, idleMs, user } = this.#options
    const held: HeldSession = registry.hold({
      kept: keptForHandle(handle, user),
      user,
      idleMs: () => idleMs,
      isExpendable: () => !this.#cameBack.has(held),
      onEnd: () => this.#held.delete(handle),
    })
    this.#held.set(handle, held)
    return held
  }

  async #useNew<T>(work: (session: Session, newHandle: string) => Promise<T>): Promise<T> {
    const handle = randomBytes(HANDLE_BYTES).toString('base64url')
    const held = this.#hold(handle)
    try {
      return await held.use(() => work(held.session, handle))
    } catch (error) {
      // The handle was never delivered.
      void held.end()
      throw error
    }
  }
}
