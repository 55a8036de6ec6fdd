// What cells keep for the user: memories, which are small values, artifacts, saved tools, the files of `/projects`.
import { lazyMethods } from '@sandbridge/core/calls/methods'
import type { Feature, Package } from '@sandbridge/core/serve/cli/package.ts'
import { projects, saved } from '@sandbridge/core/parts'

const feature: Feature = {
  name: 'Memories',
  methods: () => ({
    ...lazyMethods(
      ['save_memory', 'load_memory', 'list_memories', 'delete_memory'],
      async () => (await import('./memory-methods.ts')).memoryMethods,
    ),
    ...lazyMethods(
      ['upload', 'save_artifact', 'artifacts', 'open_artifact'],
      async () => (await import('./artifact-methods.ts')).artifactMethods,
    ),
    ...lazyMethods(
      ['save_tool', 'load_saved_tool', 'list_saved_tools', 'show_tool', 'delete_tool'],
      async () => (await import('./saved-tool-methods.ts')).savedToolMethods,
    ),
    ...lazyMethods(
      ['projects', 'read_projects', 'keep_projects'],
      async () => (await import('./project-methods.ts')).projectMethods,
    ),
  }),
}

export const memories: Package = {
  features: [feature],
  parts: [projects.at(() => import('./project-store.ts')), saved.at(() => import('./saved/saved-things.ts'))],
}
