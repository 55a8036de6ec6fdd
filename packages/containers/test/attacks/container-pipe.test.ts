// @module-tag whole: it needs an engine
// Attacks that depend on where frames go, for frames that go through the engine. Other tests try all attacks with
// frames that bypass it.
import { makeProvider, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import type { Attack } from '@sandbridge/core/test/attacks/attack.ts'
import { hostAttacks } from '@sandbridge/core/test/attacks/list/host.ts'
import { linuxChannelAttacks } from '@sandbridge/core/test/attacks/list/linux-channel.ts'
import { linuxFirstProcessAttacks } from '@sandbridge/core/test/attacks/list/linux-first-process.ts'
import { runAttacks } from '@sandbridge/core/test/attacks/run-attacks.ts'

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
