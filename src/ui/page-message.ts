// What a page is sent about one bridge. Types only: the page imports them, too.
import type { PageEvent } from './page-event.ts'
import type { CellView, QuestionView, SessionView } from './page-state.ts'

/** What a page is sent first. */
export interface Snapshot {
  sessions: SessionView[]
  /** The newest, the oldest of them first. */
  cells: CellView[]
  questions: QuestionView[]
}

export type PageMessage = { source: string; title: string } & (
  | { kind: 'snapshot'; content: Snapshot }
  | { kind: 'events'; content: PageEvent[] }
  /** The bridge has ended. */
  | { kind: 'gone' }
)
