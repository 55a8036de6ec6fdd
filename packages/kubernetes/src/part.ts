// What the core uses of pods.
import type { ClusterChoice, KeptPod, KubernetesOptions } from '@sandbridge/core/parts'
import type { Provider } from '@sandbridge/core/isolation'
import type { Cluster } from './cluster.ts'
import { listKeptPods as list, removeKeptPod as remove } from './kept/kept-pod-list.ts'
import { openCluster } from './open-cluster.ts'
import { KubernetesProvider, refuseForPods } from './provider.ts'

export { describeCluster } from './describe-cluster.ts'

/** Timeout for a cluster that does not answer. */
const PATIENCE_MS = 3_000

export function createProvider(options: KubernetesOptions, mount: unknown): Provider {
  refuseForPods({ mount, image: options.image })
  return new KubernetesProvider(options)
}

export async function listKeptPods(choice: ClusterChoice): Promise<KeptPod[]> {
  return list(await open(choice))
}

export async function removeKeptPod(choice: ClusterChoice, name: string): ReturnType<typeof remove> {
  return remove(await open(choice), name)
}

async function open(choice: ClusterChoice): Promise<Cluster> {
  return (await openCluster(choice, PATIENCE_MS)).cluster
}
