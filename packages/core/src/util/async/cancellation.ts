// A cheap AbortController: a real one costs more than the rest of a tool call, and is made where an API needs it.

/** The common part of AbortSignal and Cancellation. */
export interface Abortable {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

const bySignal = new WeakMap<Abortable, Cancellation>()

export class Cancellation implements Abortable {
  /** The object for which the work is done. */
  caller: object | undefined
  aborted = false
  reason: unknown
  #listeners: (() => void)[] | undefined
  #controller: AbortController | undefined

  /** Later calls have no effect. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners ?? []
    this.#listeners = undefined
    for (const listener of listeners) listener()
    this.#controller?.abort(reason)
  }

  /** Each listener is called at most once. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) (this.#listeners ??= []).push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1
    if (at !== -1) this.#listeners!.splice(at, 1)
  }

  /** Returns the Cancellation that an AbortSignal was made from. */
  static of(signal: Abortable): Cancellation | undefined {
    return bySignal.get(signal)
  }

  /** The AbortSignal for this Cancellation, created at first use. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      bySignal.set(this.#controller.signal, this)
      if (this.aborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }
}

/** Returns an AbortSignal, for APIs that require one. */
export function signalOf(abortable: Abortable): AbortSignal {
  if (abortable instanceof Cancellation) return abortable.signal
  if (abortable instanceof AbortSignal) return abortable
  throw new TypeError('neither an AbortSignal nor a Cancellation')
}
