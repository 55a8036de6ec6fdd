// What a provider has to do once before its first sandbox: find its engine, pull or build an image. All who need it at once wait for the same work.

export class SharedPreparation<T> {
  readonly #prepare: (onProgress: (message: string) => void) => Promise<T>
  readonly #listeners = new Set<(message: string) => void>()
  #prepared: Promise<T> | undefined

  constructor(prepare: (onProgress: (message: string) => void) => Promise<T>) {
    this.#prepare = prepare
  }

  /** Rejects as the work does; the next need starts it again, since its cause may be gone by then. */
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

  /** What was found may have changed: the next need starts the work again. */
  forget(): void {
    this.#prepared = undefined
  }
}
