// The provider contract over a fake cluster, whose pods are real processes in bubblewrap: what the provider does is shown, and not what a cluster does.
import { afterAll } from 'vitest'
import { findHostSystem } from '../../src/sandbox/bubblewrap/find-system.ts'
import type { Provider, Sandbox } from '../../src/sandbox/provider.ts'
import { makeProvider } from '../support/engines.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { testProvider } from './provider-contract.ts'

const cluster = await FakeCluster.start()
process.env['KUBECONFIG'] = cluster.kubeconfig
afterAll(() => cluster.stop())

const pods = makeProvider('kubernetes')
const provider: Provider = {
  name: 'kubernetes',
  prepare: async () => {
    const { found, verdict } = await findHostSystem()
    if (!found) throw new Error(`the fake cluster runs pods in bubblewrap: ${verdict}`)
    await pods.prepare()
  },
  start: (limits) => pods.start(limits),
}

const differences = {
  // The object of a pod whose bridge was killed stays until another bridge comes.
  isLeft: async (id: string) => {
    const phase = cluster.pods.get(id)?.status?.phase
    return cluster.isRunning(id) || phase === 'Pending' || phase === 'Running'
  },
  killFromOutside: async ({ id }: Sandbox) => cluster.kill(id),
}

testProvider('kubernetes', differences, provider)
