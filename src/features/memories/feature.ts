// Memories: small values that cells keep for the user.
import { lazyMethods } from '../../calls/methods/lazy-methods.ts'
import type { Feature } from '../../cli/feature.ts'

export const memories: Feature = {
  name: 'Memories',
  methods: () =>
    lazyMethods(
      ['save_memory', 'load_memory', 'list_memories', 'delete_memory'],
      async () => (await import('./memory-methods.ts')).memoryMethods,
    ),
}
