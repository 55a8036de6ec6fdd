// Opens the cluster in the settings, as the kubeconfig's user.
import { homedir } from 'node:os'
import type { ClusterChoice } from '@sandbridge/core/parts'
import { ApiClient } from './api/api-client.ts'
import { Cluster } from './cluster.ts'
import { CredentialSource } from './api/credentials.ts'
import { type ClusterAccess, findCluster } from './api/kubeconfig.ts'

/**
 * Sends no request yet.
 * @param patienceMs how long requests are retried
 * @throws BridgeError CONFIG_INVALID, SANDBOX_ENGINE_MISSING
 */
export async function openCluster(
  { context, namespace }: ClusterChoice,
  patienceMs?: number,
): Promise<{ access: ClusterAccess; cluster: Cluster }> {
  const access = await findCluster({ env: process.env, home: homedir(), context, namespace })
  const client = new ApiClient(access.server, new CredentialSource(access), patienceMs)
  return { access, cluster: new Cluster(client, access.name, access.namespace) }
}
