// On a fake cluster, whose pods run in bubblewrap: the program, the limits and the frames are those of a pod, the walls are not a cluster's. Those are
// what the manifest of a pod asks for (test/contract/kubernetes-manifests.test.ts); a real network is tried by the probe pod.
import { whyNot } from '../support/engines.ts'
import { openPods } from '../support/fake-cluster/pods.ts'
import { runAttacks } from './run-attacks.ts'

const { provider } = await openPods()

runAttacks({
  name: 'kubernetes',
  memoryBytes: 384 << 20,
  // Where a real cluster has to be there, it gets the others.
  only: ({ kind }) => !process.env['SANDBRIDGE_TEST_CLUSTER'] || kind === 'exhaustion',
  open: async () => (await whyNot(provider)) ?? provider,
})
