// What cells keep for the user: memories, which are small values, and the files of `/projects`.
import { lazyMethods } from '@sandbridge/core/calls/methods'
import type { Feature, Package } from '@sandbridge/core/cli/package.ts'
import { projects } from '@sandbridge/core/parts'

const feature: Feature = {
  name: 'Memories',
  methods: () => ({
    ...lazyMethods(
      ['save_memory', 'load_memory', 'list_memories', 'delete_memory'],
      async () => (await import('./memory-methods.ts')).memoryMethods,
    ),
    ...lazyMethods(
      ['projects', 'read_projects', 'keep_projects'],
      async () => (await import('./project-methods.ts')).projectMethods,
    ),
  }),
}

export const memories: Package = { features: [feature], parts: [projects.at(() => import('./project-store.ts'))] }
