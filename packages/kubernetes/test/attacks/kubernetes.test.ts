// @module-tag whole: it needs a cluster, made up or real
// On a fake cluster, whose pods run in bubblewrap: the program, the limits and the frames are those of a pod, the walls
// are not a cluster's. packages/kubernetes/test/contract/kubernetes-manifests.test.ts checks what a pod's manifest asks
// for; the probe pod tests a real network.
import { whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { openPods } from '../support/fake-cluster/pods.ts'
import { runAttacks } from '@sandbridge/core/test/attacks/run-attacks.ts'

const { provider } = await openPods()

runAttacks({
  name: 'kubernetes',
  memoryBytes: 384 << 20,
  leftOut: ({ kind }) =>
    kind !== 'exhaustion' && process.env['SANDBRIDGE_TEST_CLUSTER']
      ? 'the real cluster is attacked instead'
      : undefined,
  open: async () => (await whyNot(provider)) ?? provider,
})
