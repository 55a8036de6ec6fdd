// @module-tag whole: it needs a real cluster
// On a real cluster, if there is one: with the walls of its container runtime and the seccomp profile of
// packages/kubernetes/deploy/kubernetes on its nodes. It enforces no network policies: the profile alone keeps
// sandboxes from opening connections.
import { whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { realPods } from '../support/real-cluster.ts'
import { runAttacks } from '@sandbridge/core/test/attacks/run-attacks.ts'

/**
 * Every pod has the network device of its node's plugin, and clusters mount in-memory folders without these options.
 * The profile refuses network sockets, and without new privileges and capabilities neither setuid programs nor devices
 * are useful.
 */
const NOT_HELD_OFF = ['a network device', 'a writable folder that allows setuid or devices']

const provider = realPods({ seccompProfile: 'sandbridge.json' })

runAttacks({
  name: 'kubernetes',
  memoryBytes: 384 << 20,
  only: ({ name }) => !NOT_HELD_OFF.includes(name),
  leftOut: ({ kind }) =>
    kind === 'exhaustion' && process.env['SANDBRIDGE_TEST_CLUSTER']
      ? 'it costs another pod, and contract tests try the limits'
      : undefined,
  open: async () => (await whyNot(provider)) ?? provider,
})
