// Which sessions are calling a server. Its requests, log messages and stderr do not say which call they belong to: they
// can be assigned to a session only while no other one is calling.
import { type Abortable, Cancellation } from '../../util/async/cancellation.ts'

/** Identifies a session. It outlives a cancelled call, so it must not reference the session itself. */
export type Caller = object

// Not an AsyncLocalStorage: in Node 20 and 22, its first use makes every promise of the process cost twice as much.
const bySignal = new WeakMap<Abortable, Caller>()

/** Assigns all requests with this signal to that caller. */
export function setCaller(work: Abortable, caller: Caller | undefined): void {
  if (work instanceof Cancellation) work.caller = caller
  else if (caller) bySignal.set(work, caller)
}

export function callerOf(work: Abortable | undefined): Caller | undefined {
  if (work === undefined || work instanceof Cancellation) return work?.caller
  return bySignal.get(work) ?? Cancellation.of(work)?.caller
}

/** The callers of one server. Work without a caller, such as listing tools, is not counted. */
export class Callers {
  /** The number of open calls of each. */
  readonly #open = new Map<Caller, number>()
  /** Callers with a cancelled call, which may go on. Two are enough to know that the server is shared. */
  readonly #abandoned = new Set<Caller>()
  #asksWithinCalls = false
  /** Take this when a call begins, for `wereAlone`. */
  sequence = 0
  #sharedAt = -1

  /** Work for a caller begins. @returns to call at its end, with whether the server may still be working on it */
  enter(caller: Caller | undefined): (mayGoOn: boolean) => void {
    if (!caller) return () => {}
    this.#open.set(caller, (this.#open.get(caller) ?? 0) + 1)
    this.sequence += 1
    if (this.#isShared) this.#sharedAt = this.sequence
    return (mayGoOn) => {
      const left = this.#open.get(caller)! - 1
      if (left > 0) this.#open.set(caller, left)
      else this.#open.delete(caller)
      if (mayGoOn && this.#abandoned.size < 2) this.#abandoned.add(caller)
    }
  }

  /** A new connection without leftovers. @param o.asksWithinCalls a question arrives as the response to its call */
  opened({ asksWithinCalls }: { asksWithinCalls: boolean }): void {
    this.#abandoned.clear()
    this.#asksWithinCalls = asksWithinCalls
  }

  /** The only caller that a request of the server can belong to. */
  sole(): Caller | 'none' | 'several' {
    const [caller] = this.#open.keys()
    if (!caller) return 'none'
    const isUnsure = this.#asksWithinCalls ? this.#open.size > 1 : this.#isShared
    return isUnsure ? 'several' : caller
  }

  /** Whether only one caller has used the server since then. */
  wereAlone(since: number): boolean {
    return this.#sharedAt < since && !this.#isShared
  }

  get #isShared(): boolean {
    if (this.#abandoned.size === 0) return this.#open.size > 1
    return new Set([...this.#open.keys(), ...this.#abandoned]).size > 1
  }
}
