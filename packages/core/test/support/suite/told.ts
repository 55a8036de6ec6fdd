// Events as observers get them.
import type { BridgeEvent } from '../../../src/observe/events/event.ts'
import { Ledger } from '../../../src/observe/runs/ledger.ts'
import type { Told } from '../../../src/observe/runs/run.ts'

/** @param ledger has what earlier events were about */
export function toldOf(events: readonly BridgeEvent[], ledger = new Ledger()): Told[] {
  return events.map((event) => ledger.take(event))
}
