// What differs from a sandbox with a Python of its own is who makes the walls, and what the first process has in common with others. It counts and limits
// in the same way, so most attacks that exhaust memory are left to bubblewrap without forks.
import { makeProvider, whyNot } from '../support/engines.ts'
import { runAttacks } from './run-attacks.ts'

runAttacks({
  name: 'bubblewrap-fork',
  memoryBytes: 384 << 20,
  only: ({ kind, name }) => kind !== 'exhaustion' || /processes|mappings/.test(name),
  open: async () => {
    const provider = makeProvider('bubblewrap-fork')
    return (await whyNot(provider)) ?? provider
  },
})
