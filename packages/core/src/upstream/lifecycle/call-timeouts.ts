// The timeouts of one server's calls. None runs while a request of the server waits for its user or client: it does not
// say which call it belongs to, so it pauses all of them.
import type { UpstreamRequests } from '../connection/requests.ts'

interface Running {
  pause: () => void
  resume: () => void
}

export class CallTimeouts {
  readonly #running = new Set<Running>()
  #openRequests = 0

  begin(limitMs: number) {
    const over = new AbortController()
    let leftMs = limitMs
    let since = 0
    let timer: NodeJS.Timeout | undefined
    const running: Running = {
      pause: () => {
        clearTimeout(timer)
        leftMs = Math.max(0, leftMs - (performance.now() - since))
      },
      resume: () => {
        since = performance.now()
        timer = setTimeout(() => over.abort(new DOMException('The call timed out', 'TimeoutError')), leftMs).unref()
      },
    }
    this.#running.add(running)
    if (this.#openRequests === 0) running.resume()
    return {
      /** Aborted when the time is over. */
      signal: over.signal,
      /** Call this when the call has ended. */
      end: () => {
        this.#running.delete(running)
        clearTimeout(timer)
      },
    }
  }

  /** The same requests, which pause the limits while they are open. */
  pausedBy({ roots, elicit, sample, ...rest }: UpstreamRequests): UpstreamRequests {
    return {
      ...rest,
      ...(roots && { roots: (server) => this.#during(() => roots(server)) }),
      ...(elicit && { elicit: (server, params, signal) => this.#during(() => elicit(server, params, signal), signal) }),
      ...(sample && { sample: (server, params, signal) => this.#during(() => sample(server, params, signal), signal) }),
    }
  }

  /** @param signal of a request that its server may cancel */
  async #during<T>(answer: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = this.#enter()
    signal?.addEventListener('abort', leave, { once: true })
    try {
      return await answer()
    } finally {
      signal?.removeEventListener('abort', leave)
      leave()
    }
  }

  #enter(): () => void {
    this.#openRequests += 1
    if (this.#openRequests === 1) for (const limit of this.#running) limit.pause()
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      this.#openRequests -= 1
      if (this.#openRequests === 0) for (const limit of this.#running) limit.resume()
    }
  }
}
