// Sends requests to a collector, one after the other. Never delays its caller: callers keep unsent items within limits,
// then drop and count them.
interface ExporterOptions {
  url: string
  headers: Record<string, string>
  protocol: 'http/json' | 'http/protobuf'
  timeoutMs: number
  /** Called with the number of dropped items, and the reason. */
  onDropped: (count: number, reason: string) => void
}

/** First delay after a failure; doubles with each further one. */
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000
/** Statuses to retry (OTLP/HTTP, Retryable Response Codes). */
const RETRYABLE = new Set([429, 502, 503, 504])
const MAX_RETRY_AFTER_S = 300

export class Exporter {
  readonly #options: ExporterOptions
  #failures = 0
  #pausedUntil = 0

  constructor(options: ExporterOptions) {
    this.#options = options
  }

  /** True while the exporter backs off. */
  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil
  }

  /** @param request JSON from otlp.ts @returns true if the items are done with: accepted, or rejected for good */
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
      // A response body may be garbage or endless.
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
