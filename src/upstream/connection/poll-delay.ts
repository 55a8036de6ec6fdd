// How long to wait before a task is asked after again.
const POLL_MS = 1000
const MIN_POLL_MS = 50
const MAX_POLL_MS = 30_000

/** @param interval what the server suggests, in milliseconds, unchecked. @throws Error as soon as `signal` is aborted */
export function pollDelay(interval: unknown, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      if (signal?.aborted) reject(new Error('aborted'))
      else resolve()
    }
    const timer = setTimeout(finish, clamp(interval))
    if (signal?.aborted) finish()
    else signal?.addEventListener('abort', finish)
  })
}

function clamp(ms: unknown): number {
  return typeof ms === 'number' ? Math.min(Math.max(ms, MIN_POLL_MS), MAX_POLL_MS) : POLL_MS
}
