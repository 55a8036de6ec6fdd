// Waiting that ends in time: at an abort, or after a while. The work itself goes on; its caller has to stop it.
import type { Abortable } from './cancellation.ts'

/**
 * The outcome of `work`, unless `signal` aborts first.
 * @param reason what to throw then; the signal's own reason when missing
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: Abortable | undefined,
  reason: () => unknown = () => signal!.reason,
): Promise<T> {
  if (!signal) return work
  let onAbort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(reason())
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    // The abort is first, so that it wins when both have settled.
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** The outcome of `work`, or what `onTimeout` returns or throws when it has not ended within `ms`. */
export async function withTimeout<T, L>(work: Promise<T>, ms: number, onTimeout: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<typeof LATE>((resolve) => (timer = setTimeout(resolve, ms, LATE)))
  try {
    const first = await Promise.race([work, late])
    return first === LATE ? onTimeout() : first
  } finally {
    clearTimeout(timer)
  }
}

const LATE = Symbol('late')
