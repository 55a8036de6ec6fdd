// The provider contract over a fake cluster, whose pods are real processes in bubblewrap: what the provider does is shown, and not what a cluster does.
import { afterAll } from 'vitest'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { testProvider } from './provider-contract.ts'

const cluster = await FakeCluster.start()
process.env['KUBECONFIG'] = cluster.kubeconfig
afterAll(() => cluster.stop())

testProvider('kubernetes', {
  // The object of a pod whose bridge was killed stays until another bridge comes.
  isLeft: async (id) => {
    const phase = cluster.pods.get(id)?.status?.phase
    return cluster.isRunning(id) || phase === 'Pending' || phase === 'Running'
  },
  killFromOutside: async ({ id }) => cluster.kill(id),
})
