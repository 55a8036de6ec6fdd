// The provider contract on a real cluster, where there is one: the fake one of kubernetes.test.ts has to do what this one does.
import type { Sandbox } from '../../src/sandbox/provider.ts'
import { asAdmin, realPods } from '../support/real-cluster.ts'
import { testProvider } from './provider-contract.ts'

const differences = {
  isLeft: async (id: string) => {
    const pod = await (await asAdmin()).getPod(id)
    // Newer clusters say that the container has ended before they say it of the pod.
    return pod !== 'gone' && !pod.terminated && (pod.phase === 'Pending' || pod.phase === 'Running')
  },
  killFromOutside: async ({ id }: Sandbox) => (await asAdmin()).deletePod(id, 1),
}

testProvider('kubernetes', differences, realPods())
