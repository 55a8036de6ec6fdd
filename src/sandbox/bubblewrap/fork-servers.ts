// The processes that fork the sandboxes of one provider: one after the other, the next one begun before it is needed. Where none can be forked, that
// is found out once.
import { messageOf } from '../../errors.ts'
import type { Sandbox } from '../provider.ts'
import { type ForkOptions, ForkServer, type ForkServerOptions } from './fork-server.ts'

export class ForkServers {
  readonly #onNotForked: (reason: string) => void
  #current: ForkServer | undefined
  #next: ForkServer | undefined
  #hasForked = false
  #reason: string | undefined

  /** @param onNotForked hears why a sandbox was not forked */
  constructor(onNotForked: (reason: string) => void = () => {}) {
    this.#onNotForked = onNotForked
  }

  /** Why none is forked, once that is known. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** Start a process that forks, ahead of need. */
  begin(begin: () => ForkServerOptions): void {
    if (this.#reason === undefined) this.#current ??= new ForkServer(begin())
  }

  /** Whether the process that was begun has come up. One that has not is given up, and the next one may be begun with something else. */
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
   * Fork a sandbox. Undefined where that does not work.
   * @param begin what a process that forks is started with
   */
  async fork(begin: () => ForkServerOptions, options: ForkOptions): Promise<Sandbox | undefined> {
    if (this.#reason !== undefined) return undefined
    try {
      const sandbox = await this.#take(begin).start(options)
      this.#hasForked = true
      return sandbox
    } catch (error) {
      const reason = messageOf(error)
      // Several may have been asked for at once.
      if (this.#reason === undefined) this.#onNotForked(reason)
      // When one fails later, on a machine that has no memory left, say, the next one may not.
      if (!this.#hasForked) this.#reason = reason
      return undefined
    }
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
