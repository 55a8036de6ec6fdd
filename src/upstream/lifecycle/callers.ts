// On whose behalf a server is called. Sessions share it, and what a server asks, logs or writes to stderr does not say which call that is for:
// it belongs to a caller only while no other one has the server at work.
import { type Abortable, Cancellation } from '../../process/cancellation.ts'

/** Stands for a session. Kept when its call was given up, so it must not hold the session itself. */
export type Caller = object

// Not an AsyncLocalStorage: in Node 20 and 22 each promise of the process costs twice as much from the first use of one on.
const bySignal = new WeakMap<Abortable, Caller>()

/** Whatever servers are asked for with this signal is asked on behalf of that caller. */
export function setCaller(work: Abortable, caller: Caller | undefined): void {
  if (work instanceof Cancellation) work.caller = caller
  else if (caller) bySignal.set(work, caller)
}

export function callerOf(work: Abortable | undefined): Caller | undefined {
  if (work === undefined || work instanceof Cancellation) return work?.caller
  return bySignal.get(work) ?? Cancellation.behind(work)?.caller
}

/** The callers of one server. Work on no one's behalf, such as reading its list of tools, holds nothing of a session and is not counted. */
export class Callers {
  /** How many calls of each are open. */
  readonly #open = new Map<Caller, number>()
  /** Whose calls were given up: the server may still work on them. Of all that there are, two tell as much as more. */
  readonly #abandoned = new Set<Caller>()
  #asksWithinCalls = false
  #sequence = 0
  #sharedAt = -1

  /** Work for a caller begins. @returns what to call when it is over, with whether the server may still be at it */
  enter(caller: Caller | undefined): (mayGoOn: boolean) => void {
    if (!caller) return () => {}
    this.#open.set(caller, (this.#open.get(caller) ?? 0) + 1)
    this.#sequence += 1
    if (this.#isShared) this.#sharedAt = this.#sequence
    return (mayGoOn) => {
      const left = this.#open.get(caller)! - 1
      if (left > 0) this.#open.set(caller, left)
      else this.#open.delete(caller)
      if (mayGoOn && this.#abandoned.size < 2) this.#abandoned.add(caller)
    }
  }

  /** A connection to a server that has nothing left of earlier calls. @param asksWithinCalls a question comes as the answer to its call */
  opened({ asksWithinCalls }: { asksWithinCalls: boolean }): void {
    this.#abandoned.clear()
    this.#asksWithinCalls = asksWithinCalls
  }

  /** The one that a question of the server can only be for. */
  sole(): Caller | 'none' | 'several' {
    const [caller] = this.#open.keys()
    if (!caller) return 'none'
    const isUnsure = this.#asksWithinCalls ? this.#open.size > 1 : this.#isShared
    return isUnsure ? 'several' : caller
  }

  /** For `wereAlone`, when a call begins. */
  get sequence(): number {
    return this.#sequence
  }

  /** Whether only one caller has had the server at work since then. */
  wereAlone(since: number): boolean {
    return this.#sharedAt < since && !this.#isShared
  }

  get #isShared(): boolean {
    if (this.#abandoned.size === 0) return this.#open.size > 1
    return new Set([...this.#open.keys(), ...this.#abandoned]).size > 1
  }
}
