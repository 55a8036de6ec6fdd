// Waits with an end: at an abort, or after a time. The work itself goes on; the caller must stop it.
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Abortable } from './cancellation.ts'

/** Of one go: whoever waits for the bridge meanwhile does not notice. */
const AT_ONCE_MS = 20

/** For long work in small pieces: between two, await the function that this returns, and others get their turn. */
export function pauses(): () => Promise<void> | undefined {
  let began = performance.now()
  return () => {
    if (performance.now() - began < AT_ONCE_MS) return undefined
    return nextTurn().then(() => void (began = performance.now()))
  }
}

/** Of a message whose steps are worth a turn each. */
export const LONG_BYTES = 256 * 1024

/** From here on, `turnAfterLongWork` measures this turn of the event loop. */
export function beginLongWork(): void {
  if (turnBegan !== undefined) return
  turnBegan = performance.now()
  setImmediate(() => (turnBegan = undefined))
}

/** Await it between two steps of work on what an outsider sent; undefined unless it is large and took long so far. */
export function turnAfterLongWork(): Promise<void> | undefined {
  if (turnBegan === undefined || performance.now() - turnBegan < AT_ONCE_MS) return undefined
  return nextTurn().then(beginLongWork)
}

/** As much as Node reads at a time: there is most likely more. */
const FULL_CHUNK_BYTES = 64 << 10
let turnBegan: number | undefined

/** Node reads on while there is more: called for each chunk, this gives others their turn when it has taken long. */
export function letOthers(stream: Pick<Readable, 'pause' | 'resume'>, chunk: Buffer): void {
  if (chunk.length < FULL_CHUNK_BYTES) return
  if (turnBegan === undefined) beginLongWork()
  else if (performance.now() - turnBegan > AT_ONCE_MS) {
    stream.pause()
    setImmediate(() => stream.resume())
  }
}

/** Resolves with `work`, unless `signal` aborts first. @param reason what to throw; default: the signal's */
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
    // The abort comes first, so that it wins if both have settled.
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Resolves with `work`, or with what `onTimeout` returns or throws if `work` does not settle within `ms`. */
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
