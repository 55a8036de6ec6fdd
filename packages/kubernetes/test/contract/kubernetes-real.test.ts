// @module-tag whole: it needs a real cluster
// The provider contract on a real cluster, if there is one: the fake cluster of kubernetes.test.ts must behave like it.
import type { Sandbox } from '../../../core/src/isolation/provider.ts'
import { asAdmin, realPods } from '../support/real-cluster.ts'
import { testProvider } from '@sandbridge/core/test/contract/provider-contract.ts'

const differences = {
  isLeft: async (id: string) => {
    const pod = await (await asAdmin()).getPod(id)
    // Newer clusters report the container's end before the pod's.
    return pod !== 'gone' && !pod.terminated && (pod.phase === 'Pending' || pod.phase === 'Running')
  },
  killFromOutside: async ({ id }: Sandbox) => (await asAdmin()).deletePod(id, 1),
}

testProvider('kubernetes', differences, realPods())
