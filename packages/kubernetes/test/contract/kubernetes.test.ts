// @module-tag whole: it starts sandboxes in a made-up cluster
// The provider contract on a fake cluster, whose pods are real processes in bubblewrap: tests the provider, not a
// cluster.
import type { Sandbox } from '../../../core/src/isolation/provider.ts'
import { openPods } from '../support/fake-cluster/pods.ts'
import { testProvider } from '@sandbridge/core/test/contract/provider-contract.ts'

const { cluster, provider } = await openPods()

const differences = {
  // The pod object of a killed bridge stays until another bridge comes.
  isLeft: async (id: string) => {
    const phase = cluster.pods.get(id)?.status?.phase
    return cluster.isRunning(id) || phase === 'Pending' || phase === 'Running'
  },
  killFromOutside: async ({ id }: Sandbox) => cluster.kill(id),
}

testProvider('kubernetes', differences, provider)
