// What conversations cost by day, as the page shows it: of all bridges that share their state.
import type { Bridge } from '../bridge.ts'
import { type DayCost, readDailyCosts } from '../state/daily-costs.ts'

export interface CostsView {
  /** The newest first. */
  days: ({ day: string } & DayCost)[]
  /** Nothing is counted: the record is off. */
  isOff: boolean
}

export async function costs({ settings, stores }: Pick<Bridge, 'settings' | 'stores'>): Promise<CostsView> {
  const days = [...(await readDailyCosts(stores.of(undefined)))].map(([day, cost]) => ({ day, ...cost }))
  return { days: days.toSorted((a, b) => b.day.localeCompare(a.day)), isOff: settings.audit === 'off' }
}
