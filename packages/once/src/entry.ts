// One call of a journal.
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
