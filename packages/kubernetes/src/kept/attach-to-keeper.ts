// Connects to the first process of a pod that outlives bridges.
import type { Connection } from './keeper-link.ts'
import { AttachChannel } from '../api/attach-channel.ts'
import type { Cluster } from '../cluster.ts'

/** @throws ApiError, ApiUnreachable, BridgeError */
export async function attachToKeeper(cluster: Cluster, pod: string, how: { forMs?: number } = {}): Promise<Connection> {
  const channel = new AttachChannel()
  try {
    await cluster.attach(pod, channel, how)
  } catch (error) {
    channel.close()
    throw error
  }
  const { stdin, stdout } = channel
  const ended = channel.ended.then(({ detail }) => detail || channel.stderr)
  return { stdin, stdout, ended, close: () => channel.close() }
}
