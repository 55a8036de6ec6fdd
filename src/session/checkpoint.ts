// The variables of a session as its kernel pickled them, kept to be handed to the kernel after it. The bridge never looks inside: unpickling runs
// whatever the pickle says, so it happens in a sandbox only.
import * as z from 'zod'
import { boundedList } from '../protocol/bounded-schema.ts'
import { firstOf } from '../text/first-of.ts'

/** Of base64: 16 MiB pickled. A sandbox has it in memory several times over while it hands it over. */
const MAX_DATA_CHARS = 23_000_000
const names = boundedList(z.string().max(200), 1_000)

export const checkpoint = z.object({
  /** Base64. */
  data: z.string().max(MAX_DATA_CHARS),
  /** The variables in it. */
  kept: names,
  /** Those that could not be pickled, each with the reason. */
  lost: names,
})

export type Checkpoint = z.infer<typeof checkpoint>

const MAX_RESTORES = 3
/** Variables that are named. */
const MAX_NAMED = 30

export class CheckpointKeeper {
  #latest: Checkpoint | undefined
  /** How often the latest one was handed out. */
  #restores = 0

  keep(latest: Checkpoint): void {
    this.#latest = latest
    this.#restores = 0
  }

  drop(): void {
    this.#latest = undefined
  }

  /** For a kernel that has just started. One that has been there at several deaths may be their cause, and is given up. */
  take(): string | undefined {
    this.#restores += 1
    if (this.#restores > MAX_RESTORES) this.drop()
    return this.#latest?.data
  }

  /** What becomes of the variables when the kernel ends under a cell, in a sentence or two; undefined when all of them are gone. */
  describeRestorable(): string | undefined {
    const carried = this.#carried()
    return (
      carried &&
      `The next cell restores these as they were before this cell: ${firstOf(carried.kept, MAX_NAMED)}.${losses(carried)}`
    )
  }

  /** What has become of them when the kernel ended between two cells. The kernel that restores them names those that are back. */
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
