// State of one user: what the user's cells save, separate from that of all others.
import path from 'node:path'
import { KeptOrigins } from './kept-origins.ts'
import type { Store } from './store.ts'
import { ArtifactStore } from './saved/artifact-store.ts'
import type { Projects } from './saved/projects-part.ts'
import { SavedToolStore } from './saved/saved-tool-store.ts'
import { LoadableTools, type LoadableToolsOptions } from './saved/loadable-tools.ts'

interface UserStateOptions extends Pick<LoadableToolsOptions, 'environment' | 'log'> {
  store: Store
  cacheFolder: string
  /** Undefined if cells have no `/projects`. */
  projects: Projects | undefined
  findProblems: (store: SavedToolStore) => LoadableToolsOptions['findProblems']
}

export class UserState {
  readonly artifacts: ArtifactStore
  readonly store: Store
  /** Where the content of these and of `/projects` came from. */
  readonly origins: KeptOrigins
  readonly projects: Projects | undefined
  readonly savedTools: SavedToolStore
  readonly loadableTools: LoadableTools

  constructor({ store, cacheFolder, projects, findProblems, environment, log }: UserStateOptions) {
    this.artifacts = new ArtifactStore(store)
    this.store = store
    this.origins = new KeptOrigins(store)
    this.projects = projects
    this.savedTools = new SavedToolStore(store)
    this.loadableTools = new LoadableTools({
      store: this.savedTools,
      environment,
      file: path.join(cacheFolder, 'loadable-tools.json'),
      findProblems: findProblems(this.savedTools),
      log,
    })
  }
}
