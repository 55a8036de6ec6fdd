import { makeProvider, whyNot } from '../support/engines.ts'
import { runAttacks } from './run-attacks.ts'

runAttacks({
  name: 'bubblewrap-fork',
  memoryBytes: 384 << 20,
  open: async () => {
    const provider = makeProvider('bubblewrap-fork')
    return (await whyNot(provider)) ?? provider
  },
})
