// Memories: small values that cells keep for the user.
import { lazyMethods } from '@sandbridge/core/calls/methods'
import type { Feature, Package } from '@sandbridge/core/cli/package.ts'

const feature: Feature = {
  name: 'Memories',
  methods: () =>
    lazyMethods(
      ['save_memory', 'load_memory', 'list_memories', 'delete_memory'],
      async () => (await import('./memory-methods.ts')).memoryMethods,
    ),
}

export const memories: Package = { features: [feature] }
