// Whether some work is still wanted. An AbortSignal with its controller takes longer to make than all else that the bridge does for a tool call, and
// nearly no call needs one: this is an object that can be listened to in the same way, and becomes an AbortSignal where an API requires one.

/** What an AbortSignal and a Cancellation have in common. */
export interface Abortable {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

const behind = new WeakMap<Abortable, Cancellation>()

export class Cancellation implements Abortable {
  /** Whom the work is done for. */
  caller: object | undefined
  aborted = false
  reason: unknown
  #listeners: (() => void)[] | undefined
  #controller: AbortController | undefined

  /** A second time does nothing. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners ?? []
    this.#listeners = undefined
    for (const listener of listeners) listener()
    this.#controller?.abort(reason)
  }

  /** Each listener is called once at most. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) (this.#listeners ??= []).push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1
    if (at !== -1) this.#listeners!.splice(at, 1)
  }

  /** What an AbortSignal was made of. */
  static behind(signal: Abortable): Cancellation | undefined {
    return behind.get(signal)
  }

  /** The same as an AbortSignal. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      behind.set(this.#controller.signal, this)
      if (this.aborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }
}

/** For what takes nothing but an AbortSignal. */
export function signalOf(abortable: Abortable): AbortSignal {
  if (abortable instanceof Cancellation) return abortable.signal
  if (abortable instanceof AbortSignal) return abortable
  throw new TypeError('neither an AbortSignal nor a Cancellation')
}
