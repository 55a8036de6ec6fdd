import { makeProvider, whyNot } from '../support/engines.ts'
import { runAttacks } from './run-attacks.ts'

runAttacks({
  name: 'podman',
  memoryBytes: 384 << 20,
  open: async () => {
    const provider = makeProvider('podman')
    return (await whyNot(provider)) ?? provider
  },
})
