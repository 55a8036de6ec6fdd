// What an image changes is the files that a sandbox has: its options, filter and first process are those of bubblewrap without one, so attacks that
// exhaust memory are left to that.
import { makeProvider, whyNot } from '../support/engines.ts'
import { runAttacks } from './run-attacks.ts'

runAttacks({
  name: 'bubblewrap-image',
  memoryBytes: 384 << 20,
  only: ({ kind }) => kind !== 'exhaustion',
  open: async () => {
    const provider = makeProvider('bubblewrap-image')
    return (await whyNot(provider)) ?? provider
  },
})
