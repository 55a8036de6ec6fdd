// The fork servers of one provider: one after the other, each started ahead. Detects once that forking fails here.
import { messageOf } from '@sandbridge/core/errors.ts'
import type { Sandbox } from '@sandbridge/core/isolation'
import { type ForkOptions, ForkServer, type ForkServerOptions } from './fork-server.ts'

export class ForkServers {
  readonly #onNotForked: (reason: string) => void
  #current: ForkServer | undefined
  #next: ForkServer | undefined
  #hasForked = false
  #reason: string | undefined

  /** @param onNotForked called with the reason when a sandbox was not forked */
  constructor(onNotForked: (reason: string) => void = () => {}) {
    this.#onNotForked = onNotForked
  }

  /** Why forking does not work here, once known. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** Start a fork server ahead of need. */
  begin(begin: () => ForkServerOptions): void {
    if (this.#reason === undefined) this.#current ??= new ForkServer(begin())
  }

  /**
   * Resolves with whether the started fork server is ready. Gives up one that failed, so that the next can be started
   * with other options.
   */
  async isUp(): Promise<boolean> {
    try {
      await this.#current?.up
      return this.#current !== undefined
    } catch {
      this.#current = undefined
      return false
    }
  }

  /**
   * Fork a sandbox. Resolves with undefined if that fails.
   * @param begin returns the options for a new fork server
   */
  async fork(begin: () => ForkServerOptions, options: ForkOptions): Promise<Sandbox | undefined> {
    if (this.#reason !== undefined) return undefined
    try {
      const sandbox = await this.#take(begin).start(options)
      this.#hasForked = true
      return sandbox
    } catch (error) {
      const reason = messageOf(error)
      // Several calls may fail at once; report only the first.
      if (this.#reason === undefined) this.#onNotForked(reason)
      // After a first success, a failure may be temporary, such as a lack of memory: the next call tries again.
      if (!this.#hasForked) this.#reason = reason
      return undefined
    }
  }

  /** The next sandboxes are forked from a new one. Those before end when they are idle. */
  renew(): void {
    this.#current = undefined
    this.#next = undefined
  }

  #take(begin: () => ForkServerOptions): ForkServer {
    if (!this.#current || this.#current.left === 0) {
      this.#current = this.#next && this.#next.left > 0 ? this.#next : new ForkServer(begin())
      this.#next = undefined
    }
    if (this.#current.left <= this.#current.slotCount / 4) this.#next ??= new ForkServer(begin())
    return this.#current
  }
}
