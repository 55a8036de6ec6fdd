// Tells of a server that a package manager installs: in the log, in progress, and to who asks.
import type { InstallNews } from '../installs-part.ts'
import type { CallOptions } from '../upstream.ts'

type Listener = NonNullable<CallOptions['onProgress']>

const LOG_EVERY_S = 30

export class InstallReports {
  readonly #onLog: (news: InstallNews, isFirst: boolean) => void
  readonly #listeners = new Set<Listener>()
  #latest: InstallNews | undefined
  #loggedAt = 0

  /** @param onLog called at first, at each change, and every 30 s */
  constructor(onLog: (news: InstallNews, isFirst: boolean) => void) {
    this.#onLog = onLog
  }

  get isInstalling(): boolean {
    return this.#latest !== undefined
  }

  /** Without its subject, such as `is being installed by npm, for 12 s so far`; undefined without an installation. */
  get text(): string | undefined {
    if (!this.#latest) return undefined
    const { manager, isWaiting, seconds } = this.#latest
    return isWaiting
      ? `waits for another server that ${manager} installs, for ${seconds} s so far`
      : `is being installed by ${manager}, for ${seconds} s so far`
  }

  take(news: InstallNews): void {
    const before = this.#latest
    this.#latest = news
    for (const listener of this.#listeners) listener({ progress: news.seconds, message: `the server ${this.text}` })
    const isOther = before?.isWaiting !== news.isWaiting
    if (!isOther && news.seconds - this.#loggedAt < LOG_EVERY_S) return
    this.#loggedAt = news.seconds
    this.#onLog(news, before === undefined)
  }

  /** The start has ended, in whatever way. */
  over(): void {
    this.#latest = undefined
  }

  /** @returns a function that ends it */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
