// The last log messages of a server (MCP, `notifications/message`), for the failure of a call or of a start. They are redacted before they come here.

const KEPT_COUNT = 3
/** What is older has nothing to do with the failure. */
const RECENT_MS = 60_000

export class LastLogged {
  readonly #now: () => number
  #messages: { at: number; text: string; number: number }[] = []
  #count = 0

  /** @param now milliseconds on any clock that never goes back */
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

  /** How many there were. */
  get count(): number {
    return this.#count
  }

  /** Those after the first so many, oldest first; empty when there is nothing recent. */
  text(after = 0): string {
    const since = this.#now() - RECENT_MS
    return this.#messages
      .filter(({ at, number }) => at >= since && number > after)
      .map(({ text }) => text)
      .join('; ')
  }
}
