// One-off work of a provider before its first sandbox. Concurrent callers share one run.

export class SharedPreparation<T> {
  readonly #prepare: (onProgress: (message: string) => void) => Promise<T>
  readonly #listeners = new Set<(message: string) => void>()
  #prepared: Promise<T> | undefined

  constructor(prepare: (onProgress: (message: string) => void) => Promise<T>) {
    this.#prepare = prepare
  }

  /** Rejects as the work does; the next call then starts it again, since the cause may be gone. */
  get(onProgress?: (message: string) => void): Promise<T> {
    if (onProgress) this.#listeners.add(onProgress)
    this.#prepared ??= this.#prepare((message) => {
      for (const listener of this.#listeners) listener(message)
    }).catch((error: unknown) => {
      this.#prepared = undefined
      throw error
    })
    return this.#prepared.finally(() => onProgress && this.#listeners.delete(onProgress))
  }

  /** The result; what is no longer good is made again. */
  async getGood(isGood: (result: T) => boolean | Promise<boolean>): Promise<T> {
    const result = this.get()
    const current = this.#prepared
    if (await isGood(await result)) return result
    // Not if another caller has noticed it before.
    if (this.#prepared === current) this.forget()
    return this.get()
  }

  /** The result may be outdated: the next call starts the work again. */
  forget(): void {
    this.#prepared = undefined
  }
}
