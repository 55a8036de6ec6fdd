// What conversations cost by day, as far as the core knows it.
import type { Store } from '../keep/store.ts'
import { Part } from '../util/part.ts'
import type { Subscriber } from './events/event-stream.ts'

/** Without it, costs are not counted. */
export const dailyCosts = new Part<{ createCostCounter: (options: CostsOptions) => Subscriber }>('the count of costs')

export interface CostsOptions {
  /** Returns the current tokens in the definitions of all tools. */
  listedTokens: () => Promise<number>
  /** Has the costs. */
  store: Store
  onError: (error: unknown) => void
}
