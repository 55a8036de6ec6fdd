// This file verifies that sessions in Kubernetes outlive a bridge, and that any replica takes any call, on a fake cluster whose pods are processes in
// bubblewrap.
import { afterAll } from 'vitest'
import { providerOrSkip } from '../support/engines.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { testDurablePods } from './durable-pods.ts'

const cluster = await FakeCluster.start()
afterAll(() => cluster.stop())

testDurablePods({
  env: {
    MCP_BRIDGE_RUNTIME: 'kubernetes',
    MCP_BRIDGE_KUBERNETES_NETWORK: 'unchecked',
    KUBECONFIG: cluster.kubeconfig,
  },
  // What the pods of the fake cluster run in.
  skipWithout: async (ctx) => void (await providerOrSkip('bubblewrap', ctx)),
  stopApiServer: () => cluster.goAway(),
  startApiServer: () => cluster.listen(),
  awayMs: 700,
  deletePods: async () => {
    for (const { metadata } of cluster.pods.list()) cluster.delete(metadata.name, 0)
  },
})
