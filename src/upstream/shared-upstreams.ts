// Upstreams that the servers of several clients use together, by what their start depends on. The process of a client
// that has left stays for the next one, and ends when none has come.
import type { BridgeError } from '../errors.ts'
import type { ManagedUpstream } from './lifecycle/managed-upstream.ts'
import type { UpstreamTool } from './upstream.ts'

/** How long an upstream outlives the last set of servers that used it. */
const LINGER_MS = 10 * 60_000

/** What a set of servers hears from an upstream. */
export interface UpstreamHearer {
  onTools: (tools: UpstreamTool[], instructions: string | undefined) => void
  onOfferings: () => void
  onError: (error: BridgeError) => void
}

interface Shared {
  upstream: ManagedUpstream
  hearers: Set<UpstreamHearer>
  lingering?: NodeJS.Timeout
}

export class SharedUpstreams {
  readonly #byKey = new Map<string, Shared>()
  /** Upstreams whose last set has given them up, until they have ended. */
  readonly #retiring = new Set<ManagedUpstream>()
  readonly #lingerMs: number

  constructor({ lingerMs = LINGER_MS }: { lingerMs?: number } = {}) {
    this.#lingerMs = lingerMs
  }

  /** How many sets use the upstream of this key. */
  users(key: string): number {
    return this.#byKey.get(key)?.hearers.size ?? 0
  }

  /** All upstreams, used or lingering. */
  *all(): Iterable<ManagedUpstream> {
    for (const { upstream } of this.#byKey.values()) yield upstream
  }

  /**
   * Use the upstream of this key from now on.
   * @param create makes it when there is none; `tell` passes on what it reports to all sets that use it
   */
  enter(key: string, hearer: UpstreamHearer, create: (tell: UpstreamHearer) => ManagedUpstream): ManagedUpstream {
    let shared = this.#byKey.get(key)
    if (!shared) {
      const hearers = new Set<UpstreamHearer>()
      shared = { hearers, upstream: create(toAll(hearers)) }
      this.#byKey.set(key, shared)
    }
    clearTimeout(shared.lingering)
    shared.hearers.add(hearer)
    return shared.upstream
  }

  /**
   * Stop using an upstream.
   * @param isGone its definition was changed or removed: the last set that leaves ends it after its open calls
   */
  leave(key: string, hearer: UpstreamHearer, isGone: boolean): void {
    const shared = this.#byKey.get(key)
    if (!shared?.hearers.delete(hearer) || shared.hearers.size > 0) return
    if (isGone) return this.#end(key, shared)
    shared.lingering = setTimeout(() => this.#end(key, shared), this.#lingerMs).unref()
  }

  #end(key: string, { upstream }: Shared): void {
    this.#byKey.delete(key)
    this.#retiring.add(upstream)
    void upstream.retire().finally(() => this.#retiring.delete(upstream))
  }

  /** End all upstreams. */
  async close(): Promise<void> {
    const all = [...this.#byKey.values()]
    this.#byKey.clear()
    for (const { lingering } of all) clearTimeout(lingering)
    await Promise.all([...all.map(({ upstream }) => upstream), ...this.#retiring].map((upstream) => upstream.close()))
  }
}

function toAll(hearers: ReadonlySet<UpstreamHearer>): UpstreamHearer {
  return {
    onTools: (tools, instructions) => hearers.forEach((one) => one.onTools(tools, instructions)),
    onOfferings: () => hearers.forEach((one) => one.onOfferings()),
    onError: (error) => hearers.forEach((one) => one.onError(error)),
  }
}
