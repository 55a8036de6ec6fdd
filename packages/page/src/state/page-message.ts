// Messages to a page about its bridge. Types only, because the page imports them, too.
import type { PageEvent } from './page-event.ts'
import type { CellView, QuestionView, SessionView } from './page-state.ts'

/** The first message. */
export interface Snapshot {
  sessions: SessionView[]
  /** The most recent cells, oldest first. */
  cells: CellView[]
  questions: QuestionView[]
}

export type PageMessage = { kind: 'snapshot'; content: Snapshot } | { kind: 'events'; content: PageEvent[] }
