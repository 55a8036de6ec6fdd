// The pickled variables of a session for its next kernel. Unpickling executes code: it happens only in a sandbox.
import * as z from 'zod'
import { boundedList } from '../../util/json/bounded-schema.ts'

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

/** What the next kernel restores of the variables. */
export interface Restorable extends Pick<Checkpoint, 'kept' | 'lost'> {
  /** The variables of later cells than this one could not be kept; missing: they are those of the last cell. */
  since?: number
}

const MAX_RESTORES = 3

export class CheckpointKeeper {
  #latest: Checkpoint | undefined
  /** How often the latest checkpoint was handed out. */
  #restores = 0
  /** The cell that it came with; undefined until that cell has ended. */
  #cell: number | undefined
  /** Cells have ended since then without a newer one. */
  #isStale = false

  keep(latest: Checkpoint): void {
    this.#latest = latest
    this.#restores = 0
    this.#cell = undefined
    this.#isStale = false
  }

  /** A cell has ended and left its variables. Call after each. */
  cellEnded(cell: number | undefined): void {
    this.#isStale = this.#cell !== undefined
    this.#cell ??= cell
  }

  drop(): void {
    this.#latest = undefined
  }

  /** The checkpoint for a new kernel; dropped once MAX_RESTORES kernels died with it, as it may be the cause. */
  take(): string | undefined {
    this.#restores += 1
    if (this.#restores > MAX_RESTORES) this.drop()
    return this.#latest?.data
  }

  /** What the next kernel restores; undefined when nothing. */
  get restorable(): Restorable | undefined {
    if (!this.#latest || this.#restores >= MAX_RESTORES || this.#latest.kept.length === 0) return undefined
    const { kept, lost } = this.#latest
    return { kept, lost, ...(this.#isStale && this.#cell !== undefined && { since: this.#cell }) }
  }
}
