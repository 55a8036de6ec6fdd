// Removes the pods that dead bridges have left in the namespace. A pod ends by itself when it has lost its bridge, or never had one: what is left of
// it is an object that has finished. A pod that never ran waits for a node for ever.
import type { Cluster } from './cluster.ts'
import { BRIDGE_LABEL, MANAGED_SELECTOR } from './pod-manifest.ts'
import { readClaim } from './pod-claim.ts'
import { readPod } from './pod-state.ts'
import { isRecord } from '../../text/json.ts'

/** A living bridge has removed its own by then, whatever the clocks say. */
const FINISHED_FOR_MS = 15 * 60_000
/** No bridge waits for so long. */
const PENDING_FOR_MS = 60 * 60_000

/** Returns the names of what it removed. @throws ApiError, ApiUnreachable */
export async function removeLeftovers(cluster: Cluster, now = Date.now()): Promise<string[]> {
  // Those of a warm pool are no bridge's, and whoever made them removes them.
  const ofOthers = `${MANAGED_SELECTOR},${BRIDGE_LABEL},${BRIDGE_LABEL}!=${cluster.bridge}`
  const items = await cluster.listPods(ofOthers)
  const removed: string[] = []
  for (const item of items) {
    if (!isLeftover(item, now)) continue
    const { name } = readPod(item)!
    await cluster.deletePod(name, 0)
    removed.push(name)
  }
  return removed
}

function isLeftover(item: unknown, now: number): boolean {
  const pod = readPod(item)
  // Another program's pod, with a label of ours by chance.
  if (!pod || !isRecord(item) || !pod.name.startsWith('sandbridge-')) return false
  const keptUntil = readClaim(item)?.keptUntil ?? Number.NaN
  // It should have ended itself by then: it hangs, or its node is gone.
  if (now > keptUntil) return true
  if (pod.phase === 'Pending') return now - pod.createdAt > PENDING_FOR_MS
  if (pod.phase !== 'Succeeded' && pod.phase !== 'Failed') return false
  return now - (Number.isNaN(pod.finishedAt) ? pod.createdAt : pod.finishedAt) > FINISHED_FOR_MS
}
