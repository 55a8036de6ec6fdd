// Keeps the pickled variables of a session for its next kernel. The bridge never unpickles them: unpickling executes
// code from the pickle, so it happens only in a sandbox.
import * as z from 'zod'
import { boundedList } from '../../util/json/bounded-schema.ts'
import { firstOf } from '../../util/text/first-of.ts'

/** In base64 characters: 16 MiB pickled. The sandbox holds several copies while it sends them. */
const MAX_DATA_CHARS = 23_000_000
const names = boundedList(z.string().max(200), 1_000)

export const checkpoint = z.object({
  /** Base64. */
  data: z.string().max(MAX_DATA_CHARS),
  /** Names of the variables in `data`. */
  kept: names,
  /** Variables that could not be pickled, each with the reason. */
  lost: names,
})

export type Checkpoint = z.infer<typeof checkpoint>

const MAX_RESTORES = 3
/** Most variables that a note names. */
const MAX_NAMED = 30

export class CheckpointKeeper {
  #latest: Checkpoint | undefined
  /** How often the latest checkpoint was handed out. */
  #restores = 0

  keep(latest: Checkpoint): void {
    this.#latest = latest
    this.#restores = 0
  }

  drop(): void {
    this.#latest = undefined
  }

  /**
   * Returns the checkpoint for a new kernel. Drops it after MAX_RESTORES kernels died with it, since it may be the
   * cause.
   */
  take(): string | undefined {
    this.#restores += 1
    if (this.#restores > MAX_RESTORES) this.drop()
    return this.#latest?.data
  }

  /** Says which variables come back after the kernel ended during a cell; undefined when none do. */
  describeRestorable(): string | undefined {
    const carried = this.#carried()
    return (
      carried &&
      `The next cell restores these as they were before this cell: ${firstOf(carried.kept, MAX_NAMED)}.${losses(carried)}`
    )
  }

  /** Says what was lost when the kernel ended between two cells. The kernel that restores the variables names them. */
  describeLost(): string {
    const carried = this.#carried()
    if (!carried) return 'variables of earlier cells are gone.'
    return `its files are gone; the next cell restores the variables that were kept.${losses(carried)}`
  }

  /** Undefined when nothing will be restored. */
  #carried(): Checkpoint | undefined {
    if (!this.#latest || this.#restores >= MAX_RESTORES || this.#latest.kept.length === 0) return undefined
    return this.#latest
  }
}

function losses({ lost }: Checkpoint): string {
  return lost.length === 0 ? '' : ` Lost: ${firstOf(lost, MAX_NAMED)}.`
}
