// All open runs of a client: those with a request, those that wait for an answer, those whose result comes later.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BridgeError } from '../../../errors.ts'
import { OpenRun } from './open-run.ts'
import { tasks as part, type Tasks } from './tasks-part.ts'

/** How long a question may stay open before its cell is interrupted: a client need not say that it gave up. */
export const ANSWER_MS = 10 * 60_000
/** Clients that give up do so after 60 s without a message. */
const PATIENCE_MS = 50_000
/** Most results that wait for a call, of all sessions. */
const MAX_LATE = 16

export class OpenRuns {
  /** How long a call may stay open whose client asks for no progress. */
  readonly patienceMs: number
  readonly #runs = new Map<string, OpenRun>()
  readonly #answerWithinMs: number
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #answers = new Set<Promise<unknown>>()
  #tasks: Tasks | undefined

  constructor(answerWithinMs = ANSWER_MS, patienceMs = PATIENCE_MS) {
    this.#answerWithinMs = answerWithinMs
    this.patienceMs = patienceMs
  }

  async tasks(): Promise<Tasks> {
    const { createTasks } = await part.for('A task')
    return (this.#tasks ??= createTasks(this))
  }

  /** How many tasks run, or have a result that the client has not fetched. */
  get unfetchedTasks(): number {
    return this.#tasks?.unfetchedCount ?? 0
  }

  add(...args: ConstructorParameters<typeof OpenRun>): OpenRun {
    const run = new OpenRun(...args)
    this.#runs.set(run.id, run)
    return run
  }

  /** Tracks the work on one request. */
  async answer<T>(work: () => Promise<T>): Promise<T> {
    const answer = work()
    this.#answers.add(answer)
    try {
      return await answer
    } finally {
      this.#answers.delete(answer)
    }
  }

  /** Resolves when all requests that have arrived are answered, those waiting for a new client's server included. */
  async answered(): Promise<void> {
    do {
      await Promise.allSettled(this.#answers)
      await nextTurn()
    } while (this.#answers.size > 0)
  }

  /** The run that a client has come back to. @throws BridgeError CANCELLED if it has ended: it must not run again */
  resume(state: string): OpenRun {
    const run = this.#runs.get(state.replace(/\.\d+$/, ''))
    if (!run) {
      throw new BridgeError('CANCELLED', 'The call of this question has ended', {
        hint: 'Call run_python again to run its code.',
      })
    }
    this.stopWaiting(run)
    return run
  }

  /** Cancels every call whose run is open: its client is gone. */
  cancelAll(): void {
    for (const run of this.#runs.values()) run.cancel()
  }

  /** The client was asked something and must come back within ANSWER_MS. */
  awaitAnswer(run: OpenRun): void {
    clearTimeout(this.#timers.get(run.id))
    const giveUp = () => {
      run.cancel()
      this.delete(run)
    }
    this.#timers.set(run.id, setTimeout(giveUp, this.#answerWithinMs).unref())
  }

  stopWaiting(run: OpenRun): void {
    clearTimeout(this.#timers.get(run.id))
    this.#timers.delete(run.id)
  }

  /** The run goes on without a request; a later one of its session gets the result. */
  goOn(run: OpenRun, session: string): void {
    run.lateIn = session
    const late = [...this.#runs.values()].filter(({ lateIn }) => lateIn !== undefined)
    if (late.length <= MAX_LATE) return
    late[0]!.cancel()
    this.delete(late[0]!)
  }

  /** The runs whose results wait for the next call of a session, oldest first. */
  lateIn(session: string): OpenRun[] {
    return [...this.#runs.values()].filter(({ lateIn }) => lateIn === session)
  }

  /** @returns whether the run was still there */
  delete(run: OpenRun): boolean {
    this.stopWaiting(run)
    return this.#runs.delete(run.id)
  }
}
