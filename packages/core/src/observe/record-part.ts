// The record of what models did, as far as the core knows it.
import type { Logs, Store } from '../keep/store.ts'
import { Part } from '../util/part.ts'
import type { Subscriber } from './events/event-stream.ts'

export const record = new Part<RecordPart>('the audit log')

interface RecordPart {
  Audit: new (options: RecordOptions) => Subscriber
  /** Returns the record's logs within the state of the bridge's owner. */
  recordIn: (store: Store) => Logs
}

export interface RecordOptions {
  logs: Logs
  /** Refuse a call that cannot be recorded. */
  required: boolean
  version: string
  /** Record arguments, error messages and questions in full, instead of only their shape. */
  full: boolean
  /** Also record code and replies, so that a run can become a workflow. */
  replay: boolean
  redact: (server: string, text: string) => string
  /** Called when writing begins to fail, and without an error when it works again. */
  onFailing: (error?: unknown) => void
}
