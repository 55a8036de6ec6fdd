// What the core uses of the count of costs.
import type { CostsOptions } from '@sandbridge/core/parts'
import { CostCounter } from './cost-counter.ts'
import { addDailyCosts } from './daily-costs.ts'

export function createCostCounter({ store, ...options }: CostsOptions): CostCounter {
  return new CostCounter({ ...options, keep: (more) => addDailyCosts(store, more) })
}
