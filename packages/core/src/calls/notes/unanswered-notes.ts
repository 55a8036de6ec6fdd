// What keeps the servers that a cell has called from answering: notes for a cell that ran out of time.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Upstreams } from '../../upstream/upstream.ts'
import type { SessionFlow } from '../flow-part.ts'
import type { CalledTools } from './called-tools.ts'

/** One sentence for each server that has not answered. */
export async function unansweredNotes(
  called: CalledTools,
  upstreams: Pick<Upstreams, 'whyUnanswered'>,
  flow: SessionFlow | undefined,
): Promise<string[]> {
  // The calls that the time limit ended are reported to their upstreams first.
  await nextTurn()
  const reasons = await Promise.all(
    [...called.servers].map(async (server) => {
      const reason = await upstreams.whyUnanswered(server).catch(() => undefined)
      if (reason !== undefined) flow?.returned({ server, name: 'silence' }, reason)
      return reason
    }),
  )
  return reasons.filter((reason) => reason !== undefined)
}
