// The outcome of a cell, as data: a cell that fails is a result. src/cell/render/ makes text of it.
import type { MimeBundle } from './protocol/frames.ts'

/** A file that a cell keeps, in one version. */
export interface Artifact {
  name: string
  version: number
  uri: string
  sizeBytes: number
  sha256: string
  contentType: string
  createdAt: string
}

/**
 * - `ok`: the cell ran to its end
 * - `error`: the cell raised
 * - `timeout`: it reached its time limit and was interrupted
 * - `interrupted`: the client cancelled it, or it interrupted itself
 * - `killed`: its sandbox ended while it ran
 */
type CellStatus = 'ok' | 'error' | 'timeout' | 'interrupted' | 'killed'

export interface CellError {
  name: string
  message: string
  /** Contains only lines of the user's code. */
  traceback: string
  /** Values of the names on the failing line. */
  values?: string | undefined
  hint?: string | undefined
  /** Words for a tool search: such tools can do what the sandbox cannot. */
  search?: string | undefined
}

export interface CellResult {
  status: CellStatus
  /** The cell's number in the session; missing if it never ran. */
  cell?: number
  /** The resource with all of its output; missing if the output is not kept. */
  outputUri?: string
  stdout: string
  stderr: string
  /** Value of the last expression. */
  value?: MimeBundle
  displays: MimeBundle[]
  /** How many characters of `stdout` came before each of them; missing: all. */
  displayedAt?: number[]
  error?: CellError
  /** Artifacts saved with save_artifact. */
  artifacts?: Artifact[]
  /** Further information for the reader, a sentence each. */
  notes: string[]
  /** Those of `notes` that are the bridge's own words: they are no text of a server. */
  ownNotes?: readonly string[]
  /** Calls that were refused or failed, although the cell ended well: `2 calls refused: mail.send (2 times)`. */
  notDone?: string
  /** The session's variables are lost. */
  stateLost: boolean
  /** They are lost, but the next cell restores those that could be saved; a note names them. */
  carriedOver?: boolean
  durationMs: number
  timeoutMs: number
}
