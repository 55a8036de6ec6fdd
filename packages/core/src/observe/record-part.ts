// What is recorded of runs, as far as the core knows it: the audit log and the count of costs.
import type { Subscriber } from './events/event-stream.ts'
import type { Logs, Store } from '../util/stores/store.ts'
import { Part } from '../util/part.ts'

/** Without it, costs are not counted. */
export const dailyCosts = new Part<{ createCostCounter: (options: CostsOptions) => Subscriber }>('the count of costs')

export interface CostsOptions {
  /** Returns the current tokens in the definitions of all tools. */
  listedTokens: () => Promise<number>
  /** Has the costs. */
  store: Store
  onError: (error: unknown) => void
}

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
