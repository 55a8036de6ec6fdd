// Lists and removes pods that outlive bridges, for a person: owners, and whether a bridge is connected.
import { setTimeout as sleep } from 'node:timers/promises'
import { askKeeper } from './keeper-link.ts'
import { attachToKeeper } from './attach-to-keeper.ts'
import type { KeptPod } from '@sandbridge/core/parts'
import type { Cluster } from '../cluster.ts'
import { type ClaimedPod, claimPatch, DURABLE_SELECTOR, isAlive } from './pod-claim.ts'

const NAME = /^sandbridge-[0-9a-f]+$/
/** Short, because a person waits at a terminal. */
const ANSWER_MS = 3_000
const ASKED_AT_ONCE = 8
/** How long the removed pod's claim keeps sessions away. */
const UNTIL_REMOVED_MS = 60_000
const GONE_MS = 8_000
const ASK_AGAIN_MS = 250

/** Newest first. @throws BridgeError */
export async function listKeptPods(cluster: Cluster): Promise<KeptPod[]> {
  const pods = (await cluster.explained('list', 'pods', () => cluster.listClaims(DURABLE_SELECTOR)))
    .filter(({ owner }) => owner !== undefined)
    .toSorted((a, b) => b.state.createdAt - a.state.createdAt)
  const listed: KeptPod[] = []
  for (let from = 0; from < pods.length; from += ASKED_AT_ONCE)
    listed.push(...(await Promise.all(pods.slice(from, from + ASKED_AT_ONCE).map((pod) => describe(cluster, pod)))))
  return listed
}

/** End a pod that no bridge has. @returns 'removed', or why it was not removed @throws BridgeError */
export async function removeKeptPod(
  cluster: Cluster,
  name: string,
): Promise<'removed' | 'missing' | { holder: string }> {
  const pod = NAME.test(name) ? await cluster.explained('get', 'pods', () => cluster.getClaim(name)) : undefined
  if (pod?.owner === undefined) return 'missing'
  const { holder, state } = await describe(cluster, pod)
  // Claims the pod, so that a bridge that wants it is too late, or was faster.
  const isOurs = async (): Promise<boolean> =>
    cluster.patchPod(name, claimPatch(pod.generation, 'removed by a person', Date.now() + UNTIL_REMOVED_MS))
  if (state === 'in use' || (state !== 'ended' && !(await cluster.explained('patch', 'pods', isOurs))))
    return { holder }
  await cluster.explained('delete', 'pods', () => endPod(cluster, name))
  return 'removed'
}

/**
 * Resolves when the pod has ended, or after its deletion without the node's confirmation.
 * @throws ApiError, ApiUnreachable
 */
export async function endPod(cluster: Cluster, name: string): Promise<void> {
  await cluster.deletePod(name, 1)
  for (const startedAt = performance.now(); performance.now() - startedAt < GONE_MS;) {
    const pod = await cluster.getPod(name)
    if (pod === 'gone' || pod.terminated) return
    await sleep(ASK_AGAIN_MS)
  }
  // An unreachable node never confirms it.
  await cluster.deletePod(name, 0)
}

async function describe(cluster: Cluster, pod: ClaimedPod): Promise<KeptPod> {
  const { client, holder } = pod
  const { name, createdAt } = pod.state
  const state = isAlive(pod) ? await ask(cluster, name) : 'ended'
  return { name, state, holder, client, createdAt }
}

/** Only the pod's first process knows whether a bridge is connected. */
async function ask(cluster: Cluster, name: string): Promise<KeptPod['state']> {
  try {
    const connection = await attachToKeeper(cluster, name, { forMs: 0 })
    try {
      return (await askKeeper(connection, ANSWER_MS)).isThere ? 'in use' : 'waiting'
    } finally {
      connection.close()
    }
  } catch {
    return 'no answer'
  }
}
