import { makeProvider, whyNot } from '../support/engines.ts'
import { runAttacks } from './run-attacks.ts'

runAttacks({
  name: 'docker',
  memoryBytes: 384 << 20,
  open: async () => {
    const provider = makeProvider('docker')
    return (await whyNot(provider)) ?? provider
  },
})
