// Lets one server at a time be installed into each cache: package managers that fill one together wait for each other's
// locks, or break it.

export class InstallQueue {
  readonly #last = new Map<string, Promise<void>>()

  /** Resolves with a function to call when the next one may begin. Never rejects. */
  async enter(cache: string): Promise<() => void> {
    const before = this.#last.get(cache)
    let leave = (): void => {}
    const over = new Promise<void>((resolve) => (leave = resolve))
    this.#last.set(cache, over)
    await before
    return () => {
      if (this.#last.get(cache) === over) this.#last.delete(cache)
      leave()
    }
  }
}
