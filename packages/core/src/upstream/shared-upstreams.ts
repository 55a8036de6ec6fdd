// Upstreams that several clients share, by what their start depends on. One whose client left stays for the next.
import type { ManagedUpstream, Tell } from './lifecycle/managed-upstream.ts'

/** How long an upstream outlives the last set of servers that used it. */
const LINGER_MS = 10 * 60_000

interface Shared {
  /** Tells it from all others, for people. */
  id: number
  upstream: ManagedUpstream
  /** How each set of servers that uses it tells its listeners. */
  users: Map<Tell, object>
  lingering?: NodeJS.Timeout
}

export class SharedUpstreams {
  readonly #byKey = new Map<string, Shared>()
  /** Upstreams of one set alone, with that set. */
  readonly #own = new Map<ManagedUpstream, object>()
  /** Upstreams whose last set has given them up, until they have ended. */
  readonly #retiring = new Set<ManagedUpstream>()
  #count = 0

  /** Which upstream this key has, and how many sets use it; undefined when there is none. */
  find(key: string): { id: number; users: number } | undefined {
    const found = this.#byKey.get(key)
    return found && { id: found.id, users: found.users.size }
  }

  /** All upstreams, with the sets that use each; none for one that lingers. */
  *all(): Iterable<[ManagedUpstream, ReadonlySet<object>]> {
    for (const { upstream, users } of this.#byKey.values()) yield [upstream, new Set(users.values())]
    for (const [upstream, set] of this.#own) yield [upstream, new Set([set])]
  }

  /** Counts one, too, that only this set uses. */
  enterAlone(upstream: ManagedUpstream, set: object): void {
    this.#own.set(upstream, set)
  }

  leaveAlone(upstream: ManagedUpstream): void {
    this.#own.delete(upstream)
  }

  /**
   * Use the upstream of this key from now on.
   * @param set whose use it is
   * @param tell its way to its listeners
   * @param create makes it when there is none; its argument tells all sets that use it
   */
  enter(key: string, set: object, tell: Tell, create: (tell: Tell) => ManagedUpstream): ManagedUpstream {
    let shared = this.#byKey.get(key)
    if (!shared) {
      const users = new Map<Tell, object>()
      const upstream = create((say) => users.forEach((_, one) => one(say)))
      shared = { id: (this.#count += 1), users, upstream }
      this.#byKey.set(key, shared)
    }
    clearTimeout(shared.lingering)
    shared.users.set(tell, set)
    return shared.upstream
  }

  /** Stops using an upstream. @param isGone its definition is gone: the last set ends it after its open calls */
  leave(key: string, tell: Tell, isGone: boolean): void {
    const shared = this.#byKey.get(key)
    if (!shared?.users.delete(tell) || shared.users.size > 0) return
    if (isGone) return this.#end(key, shared)
    shared.lingering = setTimeout(() => this.#end(key, shared), LINGER_MS).unref()
  }

  #end(key: string, { upstream }: Shared): void {
    this.#byKey.delete(key)
    this.#retiring.add(upstream)
    void upstream.retire().finally(() => this.#retiring.delete(upstream))
  }

  async close(): Promise<void> {
    const all = [...this.#byKey.values()]
    this.#byKey.clear()
    for (const { lingering } of all) clearTimeout(lingering)
    await Promise.all([...all.map(({ upstream }) => upstream), ...this.#retiring].map((upstream) => upstream.close()))
  }
}
