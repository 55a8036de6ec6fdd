// @module-tag whole: it starts sandboxes in a made-up cluster
// This file verifies that a pod that can outlive its bridge is a sandbox like any other while a bridge is there.
import type { Sandbox } from '../../../core/src/isolation/provider.ts'
import { openPods } from '../support/fake-cluster/pods.ts'
import { testProvider } from '@sandbridge/core/test/contract/provider-contract.ts'

const { cluster, provider } = await openPods({ keepSeconds: 60 })

const differences = {
  isVariant: true,
  // Tests of the channel and of who ends the pod.
  only: /variables from cell to cell|share nothing|a computation that never|tool call goes out|20 MB|flood|interrupt stops a loop|ended is distinguished|killed from outside|runs too long|never comes up/,
  isLeft: async (id: string) => {
    const phase = cluster.pods.get(id)?.status?.phase
    return cluster.isRunning(id) || phase === 'Pending' || phase === 'Running'
  },
  killFromOutside: async ({ id }: Sandbox) => cluster.kill(id),
}

testProvider('kubernetes', differences, provider)
