// Sends requests to a collector, one after the other, and never makes anyone wait: what it cannot send is kept within bounds, then dropped and counted.
interface ExporterOptions {
  url: string
  headers: Record<string, string>
  protocol: 'http/json' | 'http/protobuf'
  timeoutMs: number
  /** Hears of so many items that were dropped, and why. */
  onDropped: (count: number, reason: string) => void
}

/** A collector that is gone, slow or busy is asked again after this, and after twice as long each time. */
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000
/** These are worth another attempt (OTLP/HTTP, Retryable Response Codes). */
const RETRYABLE = new Set([429, 502, 503, 504])
const MAX_RETRY_AFTER_S = 300

export class Exporter {
  readonly #options: ExporterOptions
  #failures = 0
  #pausedUntil = 0

  constructor(options: ExporterOptions) {
    this.#options = options
  }

  /** Whether the collector is to be left alone for now. */
  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil
  }

  /** @param request of otlp.ts @returns whether the items may be forgotten: they were taken, or never will be */
  async send(request: string, count: number, signal: AbortSignal): Promise<boolean> {
    const { url, headers, protocol, timeoutMs, onDropped } = this.#options
    const isBinary = protocol === 'http/protobuf'
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': isBinary ? 'application/x-protobuf' : 'application/json' },
        body: isBinary ? await binary(request) : request,
        redirect: 'error',
        signal: AbortSignal.any([signal, limit]),
      })
      // What a collector says may be garbage, or without end.
      await response.body?.cancel()
      if (response.ok) {
        this.#failures = 0
        return true
      }
      if (!RETRYABLE.has(response.status)) {
        onDropped(count, `the collector answered ${response.status}`)
        return true
      }
      this.#pause(Number(response.headers.get('retry-after')))
    } catch {
      this.#pause(0)
    }
    return false
  }

  #pause(seconds: number): void {
    const backOff = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS)
    this.#failures += 1
    const asked = seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_S) * 1_000 : 0
    this.#pausedUntil = performance.now() + Math.max(backOff, asked)
  }
}

async function binary(request: string): Promise<Uint8Array<ArrayBuffer>> {
  const { protobufOf } = await import('./otlp-protobuf.ts')
  return new Uint8Array(protobufOf(JSON.parse(request)))
}
