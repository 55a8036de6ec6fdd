// @module-tag whole: podman.test.ts tries one attack of each kind
import { makeProvider, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { WHY_NOT_NOW } from '@sandbridge/core/test/support/suite/needs.ts'
import { runAttacks } from '@sandbridge/core/test/attacks/run-attacks.ts'

runAttacks({
  name: 'docker',
  memoryBytes: 384 << 20,
  open: async () => {
    const provider = makeProvider('docker')
    return WHY_NOT_NOW ?? (await whyNot(provider)) ?? provider
  },
})
