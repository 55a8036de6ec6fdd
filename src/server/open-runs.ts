// The calls that wait for their client to come back with an answer, by what it comes back with. A call's run ends with its cell.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BridgeError } from '../errors.ts'
import { OpenRun } from './open-run.ts'

/** How long a question may stay open before its cell is interrupted: a client need not say that it gave up. As long as the SDK waits for an older client. */
const ANSWER_MS = 10 * 60_000

export class OpenRuns {
  readonly #runs = new Map<string, OpenRun>()
  readonly #answerWithinMs: number
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #answers = new Set<Promise<unknown>>()

  constructor(answerWithinMs = ANSWER_MS) {
    this.#answerWithinMs = answerWithinMs
  }

  add(...args: ConstructorParameters<typeof OpenRun>): OpenRun {
    const run = new OpenRun(...args)
    this.#runs.set(run.id, run)
    return run
  }

  /** Works on the answer to one request. */
  async answer<T>(work: () => Promise<T>): Promise<T> {
    const answer = work()
    this.#answers.add(answer)
    try {
      return await answer
    } finally {
      this.#answers.delete(answer)
    }
  }

  /** Resolves when the requests that are open now have been answered, and the answers were handed to what sends them. */
  async answered(): Promise<void> {
    await Promise.allSettled(this.#answers)
    await nextTurn()
  }

  /** The run that a client has come back to. @throws BridgeError CANCELLED when it is over: its code must not run once more */
  resume(id: string): OpenRun {
    const run = this.#runs.get(id)
    if (!run) {
      throw new BridgeError('CANCELLED', 'The call that this answers has ended', {
        hint: 'Call run_python again to run its code.',
      })
    }
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
    return run
  }

  /** Its client was asked something, and is to come back. */
  awaitAnswer(run: OpenRun): void {
    clearTimeout(this.#timers.get(run.id))
    const giveUp = () => {
      run.cancel()
      this.delete(run)
    }
    this.#timers.set(run.id, setTimeout(giveUp, this.#answerWithinMs).unref())
  }

  delete(run: OpenRun): void {
    clearTimeout(this.#timers.get(run.id))
    this.#timers.delete(run.id)
    this.#runs.delete(run.id)
  }
}
