// What the core uses of pods.
import type { Settings } from '@sandbridge/core/config/settings'
import type { ClusterChoice, KeptPod } from '@sandbridge/core/parts'
import { DEFAULT_IMAGE } from '@sandbridge/native/choose/image-name.ts'
import type { Provider } from '@sandbridge/core/isolation'
import type { Cluster } from './cluster.ts'
import { listKeptPods as list, removeKeptPod as remove } from './kept/kept-pod-list.ts'
import { openCluster } from './open-cluster.ts'
import { KubernetesProvider, refuseForPods } from './provider.ts'

export { describeCluster } from './describe-cluster.ts'

/** Timeout for a cluster that does not answer. */
const PATIENCE_MS = 3_000

/** How long a durable pod waits for the next bridge. */
const KEPT_S = 3600

export function createProvider(settings: Settings, mount: unknown): Provider {
  const { image = DEFAULT_IMAGE, packages, projects, pidsCount, cpus } = settings
  refuseForPods({ mount, image })
  return new KubernetesProvider({
    image,
    packages,
    user: settings.containerUser,
    pidsCount,
    cpus,
    runtimeClass: settings.ociRuntime,
    projects,
    context: settings.kubernetesContext,
    namespace: settings.kubernetesNamespace,
    seccompProfile: settings.kubernetesSeccomp,
    checksNetwork: settings.kubernetesNetwork === 'checked',
    startTimeoutMs: settings.kubernetesStartMs,
    keepSeconds: settings.session === 'durable' ? KEPT_S : undefined,
  })
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
