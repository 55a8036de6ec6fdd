// The page where the user can answer questions about calls, as an alternative to a terminal.
import type { Asker } from '../questions/questions.ts'

export interface AnswerPage {
  /** Opens only in a browser that was let in. */
  readonly address: string
  /** Whether it is open in a browser. */
  readonly isOpen: boolean
  /** Makes a link to the page, or to its questions, that lets in the first browser that opens it. */
  newLink(view?: 'ask'): string
  /** Makes a link that lets the first browser that opens it answer this question only. */
  linkTo(question: KeptQuestion): string
  close(): void
}

/** A question as stored in its file. */
export interface KeptQuestion {
  id: string
  text: string
  /** Process id of the bridge that waits for the answer. */
  pid: number
  /** New each time the question is asked. */
  asking: string
  /** The server whose text an answer can trust. */
  trusts?: string | undefined
  /** Id in events of the cell that waits for the answer, if one does. */
  cell?: string | undefined
  /** Deadline in milliseconds since 1970, for readers of the file. The bridge itself uses a monotonic clock. */
  until: number
  answer?: string
}

/** Waits while the user does something elsewhere: the cell's time limit is paused meanwhile. */
export type Hold = Asker['hold']
