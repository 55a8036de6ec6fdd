// The cluster that the settings choose, as whoever the kubeconfig says.
import { homedir } from 'node:os'
import { ApiClient } from './api-client.ts'
import { Cluster } from './cluster.ts'
import { CredentialSource } from './credentials.ts'
import { type ClusterAccess, findCluster } from './kubeconfig.ts'

/** As the settings have it. */
export interface ClusterChoice {
  context?: string | undefined
  namespace?: string | undefined
  /** A SandboxWarmPool that its pods are taken from; missing where the bridge creates them. */
  warmPool?: string | undefined
}

/** Nothing is asked of it yet. @param patienceMs how long a request is tried again @throws BridgeError CONFIG_INVALID, SANDBOX_ENGINE_MISSING */
export async function openCluster(
  { context, namespace, warmPool }: ClusterChoice,
  patienceMs?: number,
): Promise<{ access: ClusterAccess; cluster: Cluster }> {
  const access = await findCluster({ env: process.env, home: homedir(), context, namespace })
  const client = new ApiClient(access.server, new CredentialSource(access), patienceMs)
  return { access, cluster: new Cluster(client, access.name, access.namespace, warmPool !== undefined) }
}
