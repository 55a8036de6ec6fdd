// The kubernetes provider on a fake cluster for one test file, whose pods are processes in bubblewrap.
import { afterAll } from 'vitest'
import { findHostSystem } from '@sandbridge/bubblewrap/find-system.ts'
import { KubernetesProvider } from '../../../src/provider.ts'
import type { Provider } from '../../../../core/src/isolation/provider.ts'
import { SLIM_IMAGE } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { KUBERNETES } from '../tested-providers.ts'
import { FakeCluster } from './fake-cluster.ts'

/** The cluster ends with the tests of the file. Without bubblewrap the provider cannot be prepared. */
export async function openPods(
  more: { keepSeconds?: number } = {},
): Promise<{ cluster: FakeCluster; provider: Provider }> {
  const cluster = await FakeCluster.start()
  afterAll(() => cluster.stop())
  process.env['KUBECONFIG'] = cluster.kubeconfig
  const pods = new KubernetesProvider({ ...KUBERNETES, ...more, image: SLIM_IMAGE })
  const prepare = async (): Promise<void> => {
    const { found, verdict } = await findHostSystem()
    if (!found) throw new Error(`the fake cluster runs pods in bubblewrap: ${verdict}`)
    await pods.prepare()
  }
  return {
    cluster,
    provider: {
      name: 'kubernetes',
      prepare,
      start: (limits) => pods.start(limits),
      resume: (session) => pods.resume(session),
    },
  }
}
