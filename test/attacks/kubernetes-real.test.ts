// On a real cluster, where there is one: with the walls of its container runtime and the seccomp profile of deploy/kubernetes on its nodes. Nothing
// enforces network policies there: that sandboxes still open no connection is the profile's doing.
import { whyNot } from '../support/engines.ts'
import { realPods } from '../support/real-cluster.ts'
import { runAttacks } from './run-attacks.ts'

/**
 * Every pod has the network device of its node's plugin, and clusters mount folders in memory without these options. Sockets of the network are refused by
 * the profile, and without new privileges and capabilities neither setuid programs nor devices are of use.
 */
const NOT_HELD_OFF = ['a network device', 'a writable folder that allows setuid or devices']

const provider = realPods({ seccompProfile: 'sandbridge.json' })

runAttacks({
  name: 'kubernetes',
  memoryBytes: 384 << 20,
  // Each that exhausts a sandbox costs another pod. Where a run has to be short, the limits that the contract tries stand for them.
  only: ({ kind, name }) =>
    !NOT_HELD_OFF.includes(name) && (!process.env['SANDBRIDGE_TEST_CLUSTER'] || kind !== 'exhaustion'),
  open: async () => (await whyNot(provider)) ?? provider,
})
