import { makeProvider, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { runAttacks } from '@sandbridge/core/test/attacks/run-attacks.ts'

runAttacks({
  name: 'podman',
  memoryBytes: 384 << 20,
  open: async () => {
    const provider = makeProvider('podman')
    return (await whyNot(provider)) ?? provider
  },
})
