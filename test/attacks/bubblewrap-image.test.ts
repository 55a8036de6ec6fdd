import { makeProvider, whyNot } from '../support/engines.ts'
import { runAttacks } from './run-attacks.ts'

runAttacks({
  name: 'bubblewrap-image',
  memoryBytes: 384 << 20,
  open: async () => {
    const provider = makeProvider('bubblewrap-image')
    return (await whyNot(provider)) ?? provider
  },
})
