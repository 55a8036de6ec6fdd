// How a cell ended, as data: a failing cell is an outcome, not an exception. render/ turns it into what the model reads.
import type { MimeBundle } from '../protocol/frames.ts'
import type { Artifact } from '../state/artifact-store.ts'

/**
 * - `ok`, `error`: the cell came to its end, or raised
 * - `timeout`: it ran into its time limit and was interrupted
 * - `interrupted`: the client cancelled it, or it interrupted itself
 * - `killed`: its sandbox ended under it
 */
type CellStatus = 'ok' | 'error' | 'timeout' | 'interrupted' | 'killed'

export interface CellError {
  name: string
  message: string
  /** The user's own lines only. */
  traceback: string
  /** Of the names on the line that failed. */
  values?: string | undefined
  /** What to do about it. */
  hint?: string | undefined
  /** Words to find tools by that can do what the sandbox cannot. */
  search?: string | undefined
}

export interface CellResult {
  status: CellStatus
  /** Its number in the session; missing when it never ran. */
  cell?: number
  /** The resource that all of its output is kept as; missing when it is not kept. */
  outputUri?: string
  stdout: string
  stderr: string
  /** What the last expression showed. */
  value?: MimeBundle
  /** What the cell displayed before its end. */
  displays: MimeBundle[]
  error?: CellError
  /** What it kept with save_artifact. */
  artifacts?: Artifact[]
  /** What the reader should know besides the output, a sentence each. */
  notes: string[]
  /** The session's variables are gone. */
  stateLost: boolean
  /** They are, but those that could be kept come back with the next cell; a note names them. */
  carriedOver?: boolean
  durationMs: number
  /** The limit it was held to. */
  timeoutMs: number
}
