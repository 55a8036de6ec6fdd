// The last log messages of a server (`notifications/message`), redacted, for errors of calls and starts.

const KEPT_COUNT = 3
/** Older messages are unrelated to a failure. */
const RECENT_MS = 60_000

export class LastLogged {
  readonly #now: () => number
  #messages: { at: number; text: string; number: number }[] = []
  #count = 0

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now
  }

  add(text: string): void {
    this.#count += 1
    this.#messages = [...this.#messages, { at: this.#now(), text, number: this.#count }].slice(-KEPT_COUNT)
  }

  clear(): void {
    this.#messages = []
  }

  get count(): number {
    return this.#count
  }

  /** The messages after the first `after`, oldest first; empty when none are recent. */
  text(after = 0): string {
    const since = this.#now() - RECENT_MS
    return this.#messages
      .filter(({ at, number }) => at >= since && number > after)
      .map(({ text }) => text)
      .join('; ')
  }
}
