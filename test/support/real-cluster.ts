// The real cluster that SANDBRIDGE_TEST_KUBECONFIG names, if it does (`npm run cluster -- up` makes one): its context `bridge`, which is the current
// one, has the rights of a bridge in a namespace, and `admin` has all. Its nodes have NODE_IMAGE.
import { homedir } from 'node:os'
import { ApiClient } from '../../src/sandbox/kubernetes/api-client.ts'
import { Cluster } from '../../src/sandbox/kubernetes/cluster.ts'
import { CredentialSource } from '../../src/sandbox/kubernetes/credentials.ts'
import { findCluster } from '../../src/sandbox/kubernetes/kubeconfig.ts'
import { type KubernetesOptions, KubernetesProvider } from '../../src/sandbox/kubernetes/provider.ts'
import type { Provider } from '../../src/sandbox/provider.ts'
import { KUBERNETES, NODE_IMAGE } from './engines.ts'

export const REAL_KUBECONFIG = process.env['SANDBRIDGE_TEST_KUBECONFIG']
export const NO_CLUSTER = 'SANDBRIDGE_TEST_KUBECONFIG names no real cluster'

/** Settings of a bridge whose cells are pods of it. Nothing in it enforces network policies. */
export const REAL_ENV = {
  MCP_BRIDGE_RUNTIME: 'kubernetes',
  MCP_BRIDGE_IMAGE: NODE_IMAGE,
  MCP_BRIDGE_KUBERNETES_NETWORK: 'unchecked',
  KUBECONFIG: REAL_KUBECONFIG ?? '',
}

/** Pods of the real cluster. The provider cannot be prepared where there is none. */
export function realPods(more: Partial<KubernetesOptions> = {}): Provider {
  if (REAL_KUBECONFIG !== undefined) process.env['KUBECONFIG'] = REAL_KUBECONFIG
  const pods = new KubernetesProvider({ ...KUBERNETES, image: NODE_IMAGE, ...more })
  return {
    name: 'kubernetes',
    startsAtOnce: pods.startsAtOnce,
    prepare: async () => {
      if (REAL_KUBECONFIG === undefined) throw new Error(NO_CLUSTER)
      await pods.prepare()
    },
    start: (limits) => pods.start(limits),
  }
}

/** The same namespace, for who may do everything. */
export async function asAdmin(): Promise<Cluster> {
  const access = await findCluster({ env: { KUBECONFIG: REAL_KUBECONFIG }, home: homedir(), context: 'admin' })
  return new Cluster(new ApiClient(access.server, new CredentialSource(access)), 'admin', access.namespace)
}
