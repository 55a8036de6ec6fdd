// Results of cells that outlasted the patience of their client. Such a client gives up after a minute without a message
// and asks for no progress, so its call is answered before that; the cell goes on, and the next call of its session
// brings its result.
import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenRun, RunEvent } from './open-run.ts'

/** Clients that give up do so after 60 s. */
const PATIENCE_MS = 50_000
/** Most results that wait for a call, of all sessions. */
const MAX_WAITING = 16

export class LateResults {
  readonly patienceMs: number
  readonly #waiting = new Map<OpenRun, string>()

  constructor(patienceMs = PATIENCE_MS) {
    this.patienceMs = patienceMs
  }

  /** @returns the oldest run when that is one too many */
  add(run: OpenRun, session: string): OpenRun | undefined {
    this.#waiting.set(run, session)
    const [oldest] = this.#waiting.keys()
    return this.#waiting.size > MAX_WAITING ? oldest : undefined
  }

  /** The runs of a session whose results wait, oldest first. */
  of(session: string): OpenRun[] {
    return [...this.#waiting].flatMap(([run, of]) => (of === session ? [run] : []))
  }

  /** @returns whether the result of this run was still waiting */
  delete(run: OpenRun): boolean {
    return this.#waiting.delete(run)
  }
}

/** What a run gives next; undefined when it gives nothing until then, a time of `performance.now()`. */
export async function nextWithin(run: OpenRun, until: number): Promise<RunEvent | undefined> {
  if (until === Infinity) return run.next()
  const over = new AbortController()
  const left = Math.max(until - performance.now(), 0)
  const patience = sleep(left, undefined, { signal: over.signal }).catch(() => undefined)
  try {
    return await Promise.race([run.next(), patience])
  } finally {
    over.abort()
  }
}
