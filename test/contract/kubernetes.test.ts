// The provider contract over a fake cluster, whose pods are real processes in bubblewrap: what the provider does is shown, and not what a cluster does.
import type { Sandbox } from '../../src/sandbox/provider.ts'
import { openPods } from '../support/fake-cluster/pods.ts'
import { testProvider } from './provider-contract.ts'

const { cluster, provider } = await openPods()

const differences = {
  // The object of a pod whose bridge was killed stays until another bridge comes.
  isLeft: async (id: string) => {
    const phase = cluster.pods.get(id)?.status?.phase
    return cluster.isRunning(id) || phase === 'Pending' || phase === 'Running'
  },
  killFromOutside: async ({ id }: Sandbox) => cluster.kill(id),
}

testProvider('kubernetes', differences, provider)
