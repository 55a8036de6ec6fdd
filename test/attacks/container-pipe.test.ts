// Attacks that depend on where frames go, for frames that go through the engine. Other tests try all attacks with
// frames that bypass it.
import { makeProvider, whyNot } from '../support/engines.ts'
import type { Attack } from './attack.ts'
import { hostAttacks } from './list/host.ts'
import { linuxChannelAttacks } from './list/linux-channel.ts'
import { linuxFirstProcessAttacks } from './list/linux-first-process.ts'
import { runAttacks } from './run-attacks.ts'

const concerned = new Set<Attack>([...hostAttacks, ...linuxFirstProcessAttacks, ...linuxChannelAttacks])

for (const engine of ['podman', 'docker'] as const) {
  runAttacks({
    name: engine,
    memoryBytes: 384 << 20,
    open: async () => {
      const provider = makeProvider(`${engine}-pipe`)
      return (await whyNot(provider)) ?? provider
    },
    only: (attack) => concerned.has(attack),
  })
}
