// Sessions of clients whose requests are standalone (MCP 2026-07-28): the first run_python result returns a handle, and
// calls that name it continue there. A handle and the token of its group give access to the variables, so a handle must
// not be guessable. Each token has its own handles. An unknown handle is an error, never a new session.
import { randomBytes } from 'node:crypto'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { keptForHandle } from '@sandbridge/core/cell/session/kept-for.ts'
import type { Session } from '@sandbridge/core/cell'
import type { NewHandle, Sessions, SessionWork } from '@sandbridge/core/serve/mcp'
import type { HandleContent, HandleSeal } from './sealed-handle.ts'
import type { HeldSession, SessionRegistry } from './session-registry.ts'

/** 144 bits, as 24 characters. */
const HANDLE_BYTES = 18
/** As long as a pod may live. */
const SEALED_MS = 24 * 60 * 60_000

interface HandleOptions {
  registry: SessionRegistry
  user: string | undefined
  idleMs: number
  /** Makes handles that other replicas can read; missing when sandboxes run on this machine. */
  seal?: HandleSeal | undefined
}

type Place = HandleContent['place']

export class SessionHandles implements Sessions {
  /** Until none of them is open. */
  readonly seen = new Set<string>()
  readonly #options: HandleOptions
  /** By session name: the handle itself, or the name sealed in it. */
  readonly #held = new Map<string, HeldSession>()
  /** The names of sessions that the calls without code of a program share, by the program. */
  readonly #shared = new Map<string, string>()
  /** Sessions whose client came back with the handle. The others may be ended to make room. */
  readonly #cameBack = new WeakSet<HeldSession>()

  constructor(options: HandleOptions) {
    this.#options = options
  }

  async use<T>(handle: string | undefined, work: SessionWork<T>, program?: string): Promise<T> {
    if (handle === undefined) return program === undefined ? this.#useNew(work) : this.#useShared(program, work)
    const { seal, user } = this.#options
    const content = seal?.open(handle, user, Date.now())
    const name = seal ? content?.session : handle
    const held = name === undefined ? undefined : (this.#held.get(name) ?? (await this.#findKept(name, content?.place)))
    if (!held || name === undefined) {
      throw new BridgeError('SESSION_UNKNOWN', 'Unknown or expired session. No code ran, and its variables are gone')
    }
    this.#cameBack.add(held)
    const { session } = held
    return held.use(() => work(session, content && (() => this.#sealed(name, session, content.place))))
  }

  *readable(): Iterable<Session> {
    for (const { session } of this.#held.values()) yield session
  }

  /** Finds a session of an earlier bridge or another replica whose sandbox is kept. */
  async #findKept(name: string, place: Place | undefined): Promise<HeldSession | undefined> {
    const { registry, user } = this.#options
    if (!(await registry.keeps(keptForHandle(name, user, place)(undefined)))) return undefined
    return this.#held.get(name) ?? this.#hold(name, place)
  }

  #hold(name: string, place?: Place): HeldSession {
    const { registry, idleMs, user } = this.#options
    const held: HeldSession = registry.hold({
      kept: keptForHandle(name, user, place),
      user,
      idleMs: () => idleMs,
      isExpendable: () => !this.#cameBack.has(held),
      onEnd: () => {
        this.#held.delete(name)
        if (this.#held.size === 0) this.seen.clear()
      },
    })
    this.#held.set(name, held)
    return held
  }

  /** Limits, masks and flows hold from call to call, although nothing tells the conversations of a program apart. */
  #useShared<T>(program: string, work: (session: Session) => Promise<T>): Promise<T> {
    for (const [other, name] of this.#shared) if (!this.#held.has(name)) this.#shared.delete(other)
    const known = this.#held.get(this.#shared.get(program) ?? '')
    const name = this.#newName()
    const held = known ?? this.#hold(name)
    if (!known) this.#shared.set(program, name)
    else this.#cameBack.add(held)
    return held.use(() => work(held.session))
  }

  #newName(): string {
    return this.#options.seal?.newSession() ?? randomBytes(HANDLE_BYTES).toString('base64url')
  }

  async #useNew<T>(work: (session: Session, newHandle: NewHandle) => Promise<T>): Promise<T> {
    const { seal } = this.#options
    const name = this.#newName()
    const held = this.#hold(name)
    const { session } = held
    try {
      return await held.use(() => work(session, () => (seal ? this.#sealed(name, session) : name)))
    } catch (error) {
      // The handle was never delivered, so no client can use the session.
      void held.end()
      throw error
    }
  }

  /**
   * A handle for the session's current place; undefined while it has no sandbox, or when the client already knows the
   * place.
   */
  #sealed(session: string, { sandbox }: Session, known?: Place): string | undefined {
    const { seal, user } = this.#options
    const place = sandbox?.durable?.place
    if (!seal || !place || place.uid === known?.uid) return undefined
    return seal.seal({ session, place, expiresAt: Date.now() + SEALED_MS }, user)
  }
}
