import { makeProvider, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { runAttacks } from '@sandbridge/core/test/attacks/run-attacks.ts'

runAttacks({
  name: 'bubblewrap',
  memoryBytes: 384 << 20,
  open: async () => {
    const provider = makeProvider('bubblewrap')
    return (await whyNot(provider)) ?? provider
  },
})
