// Removes pods that ended bridges left in the namespace. A pod that loses its bridge, or never had one, ends itself and
// leaves a finished object. A pod that never ran would wait for a node forever.
import type { Cluster } from './cluster.ts'
import { BRIDGE_LABEL, MANAGED_SELECTOR } from './pod/pod-manifest.ts'
import { readClaim } from './kept/pod-claim.ts'
import { readPod } from './pod/pod-state.ts'
import { isRecord } from '@sandbridge/core/util/json/json.ts'

/** By then, a running bridge has removed its own pods, even if clocks differ. */
const FINISHED_FOR_MS = 15 * 60_000
/** No bridge waits this long. */
const PENDING_FOR_MS = 60 * 60_000

/** Returns the names of the removed pods. @throws ApiError, ApiUnreachable */
export async function removeLeftovers(cluster: Cluster, now = Date.now()): Promise<string[]> {
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
  // Another program's pod may have our label by chance.
  if (!pod || !isRecord(item) || !pod.name.startsWith('sandbridge-')) return false
  const keptUntil = readClaim(item)?.keptUntil ?? Number.NaN
  // The pod should have ended itself: it hangs, or its node is gone.
  if (now > keptUntil) return true
  if (pod.phase === 'Pending') return now - pod.createdAt > PENDING_FOR_MS
  if (pod.phase !== 'Succeeded' && pod.phase !== 'Failed') return false
  return now - (Number.isNaN(pod.finishedAt) ? pod.createdAt : pod.finishedAt) > FINISHED_FOR_MS
}
