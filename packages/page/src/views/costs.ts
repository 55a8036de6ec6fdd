// Costs of conversations by day for the page, over all bridges that share their state: what each side puts into the
// context of a model, which is the definitions of tools and the results.
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { estimateTokens } from '@sandbridge/core/util'
import { RUN_PYTHON_TOOL } from '@sandbridge/core/serve/mcp'
import { readDailyCosts } from '@sandbridge/record/costs/daily-costs.ts'

export interface CostsView {
  /** Newest first. */
  days: ({ day: string } & Record<'conversations' | 'with' | 'without', number>)[]
  /** The record is off, so nothing is counted. */
  isOff: boolean
}

export async function costs({ settings, stores }: Pick<Bridge, 'settings' | 'stores'>): Promise<CostsView> {
  const own = estimateTokens(JSON.stringify(RUN_PYTHON_TOOL))
  const days = [...(await readDailyCosts(stores.of(undefined)))].map(([day, cost]) => {
    const { conversations, returned, called, listed } = cost
    return { day, conversations, with: returned + conversations * own, without: called + listed }
  })
  return { days: days.toSorted((a, b) => b.day.localeCompare(a.day)), isOff: settings.audit === 'off' }
}
