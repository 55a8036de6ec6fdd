// Costs of conversations by day for the page, over all bridges that share their state.
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { type DayCost, readDailyCosts } from '@sandbridge/record/costs/daily-costs.ts'

export interface CostsView {
  /** Newest first. */
  days: ({ day: string } & DayCost)[]
  /** The record is off, so nothing is counted. */
  isOff: boolean
}

export async function costs({ settings, stores }: Pick<Bridge, 'settings' | 'stores'>): Promise<CostsView> {
  const days = [...(await readDailyCosts(stores.of(undefined)))].map(([day, cost]) => ({ day, ...cost }))
  return { days: days.toSorted((a, b) => b.day.localeCompare(a.day)), isOff: settings.audit === 'off' }
}
