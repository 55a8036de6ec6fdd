// One call of a journal.
import type { EnteredCall } from '@sandbridge/core/parts'
import type { ToolResult } from '@sandbridge/core/upstream'

/** A cell. */
export interface MakerOfCalls {
  /** Later ones have higher numbers. */
  readonly number: number
  readonly isOpen: boolean
  /** When its result was handed over, if nothing is known of it since. */
  readonly handedOverAt: number | undefined
  /** Whether its client has its result, as far as is known. */
  readonly isDelivered: boolean | undefined
  /** Whether a cell that began then may repeat it, as far as is known of its result. */
  isRepeatedBy(beganAt: number): boolean
}

export interface Entry {
  /** Hash of its tool and arguments. */
  readonly key: string
  /** Among the same calls of its cell. */
  readonly n: number
  /** For people. */
  readonly name: string
  /** `sent`: without an answer, it may or may not have taken effect. `free`: it has no effect. */
  state: 'free' | 'sent' | 'answered'
  /** Missing when it is in the log only. */
  answer: ToolResult | undefined
  /** The idempotency key that the bridge gave it. */
  filled: string | undefined
  at: number
  /** It was last sent by `runtime.again`: sent once more, the same code knows nothing of that. */
  isAgain: boolean
  /** Its client knows of it, or most likely does. */
  isTold: boolean
  /** The cell that was told that its outcome is unknown. */
  toldTo?: MakerOfCalls | undefined
  /** The cell that made it, or has used its answer; undefined for one of an earlier session. */
  by: MakerOfCalls | undefined
}

/** What becomes of a call without an answer; undefined: it raises OUTCOME_UNKNOWN. */
type Decision = 'again' | { result: ToolResult } | undefined
export type Decide = (call: { server: string; tool: string; args: EnteredCall['args'] }) => Decision | Promise<Decision>

export interface AttemptOptions {
  decide?: Decide | undefined
  /** What to do about a call whose outcome is unknown. */
  hint?: string
  /** Calls of a server are the same whatever its entry says by now: a user who resumes a run may have mended it. */
  isAnyEntry?: boolean
}
