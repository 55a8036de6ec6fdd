// Tokens that conversations cost per day: one small document shared by all bridges of a user. Holds only numbers.
import { z } from 'zod'
import { JsonDocument, type Store } from '@sandbridge/core/util/stores'

export interface DayCost {
  /** Conversations of clients that ran a cell on that day. */
  conversations: number
  /** Tokens in results of cells, and in results of the calls that the cells made. */
  returned: number
  called: number
  /** Tokens in the definitions of all tools, counted once per conversation. */
  listed: number
}

/** By day (UTC), such as `2026-11-22`. */
export type DailyCosts = Map<string, DayCost>

const count = z.int().nonnegative()
const document = z
  .record(
    z.string().regex(/^\d{4}-\d\d-\d\d$/),
    z.object({ conversations: count, returned: count, called: count.default(0), listed: count }),
  )
  .transform((days): DailyCosts => new Map(Object.entries(days)))
const MAX_DAYS = 400

export function readDailyCosts(store: Store): Promise<DailyCosts> {
  return documentIn(store).read()
}

/** @throws BridgeError if they cannot be written */
export async function addDailyCosts(store: Store, more: DailyCosts): Promise<void> {
  await documentIn(store).update((days) => {
    for (const [day, cost] of more) addCost(days, day, cost)
    const old = [...days.keys()].toSorted((a, b) => a.localeCompare(b)).slice(0, -MAX_DAYS)
    for (const day of old) days.delete(day)
  })
}

export function addCost(days: DailyCosts, day: string, more: Partial<DayCost>): void {
  const known = days.get(day) ?? { conversations: 0, returned: 0, called: 0, listed: 0 }
  for (const name of ['conversations', 'returned', 'called', 'listed'] as const) known[name] += more[name] ?? 0
  days.set(day, known)
}

function documentIn(store: Store): JsonDocument<DailyCosts> {
  return new JsonDocument({
    document: store.document('daily-costs.json'),
    empty: () => new Map(),
    parse: (json) => document.safeParse(json).data,
    serialize: (days) => Object.fromEntries(days),
    // Damaged statistics must not stop the bridge.
    damaged: 'empty',
  })
}
