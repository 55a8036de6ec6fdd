// Messages to a page about one bridge. Types only, because the page imports them, too.
import type { PageEvent } from './page-event.ts'
import type { CellView, QuestionView, SessionView } from './page-state.ts'

/** The first message about a bridge. */
export interface Snapshot {
  sessions: SessionView[]
  /** The most recent cells, oldest first. */
  cells: CellView[]
  questions: QuestionView[]
}

export type PageMessage = { source: string; title: string } & (
  | { kind: 'snapshot'; content: Snapshot }
  | { kind: 'events'; content: PageEvent[] }
  /** The bridge has ended. */
  | { kind: 'gone' }
)
