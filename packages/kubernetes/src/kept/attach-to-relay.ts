// Connects to the first process of a pod that outlives bridges.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './relay-link.ts'
import { ApiError } from '../api/api-errors.ts'
import { AttachChannel } from '../api/attach-channel.ts'
import type { Cluster } from '../cluster.ts'
import { CONTAINER } from '../pod/pod-manifest.ts'

/** A running pod may not accept attachments yet. */
const ATTACH_FOR_MS = 8_000
const ATTACH_AGAIN_MS = 300

/** @throws ApiError, ApiUnreachable, BridgeError */
export async function attachToRelay(
  cluster: Cluster,
  pod: string,
  { pingMs, forMs = ATTACH_FOR_MS }: { pingMs?: number | undefined; forMs?: number } = {},
): Promise<Connection> {
  for (const startedAt = performance.now(); ;) {
    const channel = new AttachChannel(pingMs)
    try {
      await channel.connect(cluster.client, `${cluster.path('pods', pod)}/attach`, CONTAINER)
      return {
        stdin: channel.stdin,
        stdout: channel.stdout,
        ended: channel.ended.then(({ detail }) => detail || channel.stderr),
        close: () => channel.close(),
      }
    } catch (error) {
      channel.close()
      if (error instanceof ApiError && error.status === 403)
        throw cluster.explain(error, { verb: 'create', resource: 'pods/attach' })
      if (performance.now() - startedAt > forMs) throw error
      await sleep(ATTACH_AGAIN_MS)
    }
  }
}
