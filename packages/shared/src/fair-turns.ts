// What a client sends at once is begun one by one, so that what others send comes in between.

export class FairTurns {
  readonly #waiting = new Map<unknown, (() => void)[]>()
  /** Whose request was begun in this turn of the event loop. */
  readonly #served = new Set<unknown>()

  /** Undefined when the request can begin at once. Those of one client keep their order. */
  take(client: unknown): Promise<void> | undefined {
    if (!this.#served.has(client)) {
      this.#serve(client)
      return undefined
    }
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(client)
      if (waiting) waiting.push(resolve)
      else this.#waiting.set(client, [resolve])
    })
  }

  #serve(client: unknown): void {
    if (this.#served.size === 0) setImmediate(() => this.#next())
    this.#served.add(client)
  }

  #next(): void {
    this.#served.clear()
    for (const [client, waiting] of this.#waiting) {
      this.#serve(client)
      waiting.shift()!()
      if (waiting.length === 0) this.#waiting.delete(client)
    }
  }
}
