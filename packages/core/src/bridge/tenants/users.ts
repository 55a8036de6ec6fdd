// The state and the quota of each user of the bridge, created at first use.
import { UserRules } from '../../config/permission-files.ts'
import type { Settings } from '../../config/settings/settings.ts'
import type { Log } from '../../util/log.ts'
import type { Learned, LearningPart } from '../../calls/learned-part.ts'
import type { Journals, JournalsOptions } from '../../calls/once-part.ts'
import type { SavedPart, UserState, ProjectsPart } from '../../calls/memories-part.ts'
import { UserQuota } from '../../calls/permissions/user-quota.ts'
import type { KernelPool } from '../../cell/session/kernel-pool.ts'
import { KeptOrigins } from '../../util/stores/kept-origins.ts'
import type { Stores } from '../../util/stores/store.ts'
import { userFolder } from '../../util/stores/stored-name.ts'
import { VERSION } from '../../util/package-root.ts'
import { signInVault } from '../../upstream/auth/sign-in-store.ts'

/** Only users other than the owner of the bridge have a quota and rules of their own. */
export interface UserParts {
  state: UserState
  quota?: UserQuota
  rules?: UserRules
  /** Missing in a build that learns nothing. */
  learned: Learned | undefined
  /** Missing in a build that lacks them, and where they are switched off. */
  journals: Journals | undefined
}

interface UsersOptions {
  settings: Settings
  log: Log
  pool: KernelPool
  stores: Stores
  /** Undefined in a build that learns nothing. */
  learning: LearningPart | undefined
  /** Undefined in a build that lacks it. */
  saved: SavedPart | undefined
  /** Undefined if cells have no `/projects`. */
  projects: ProjectsPart | undefined
  /** Undefined where calls are not journaled. */
  createJournals: ((options: JournalsOptions) => Journals) | undefined
}

export class Users {
  readonly #parts = new Map<string | undefined, UserParts>()
  readonly #options: UsersOptions

  constructor(options: UsersOptions) {
    this.#options = options
  }

  /** Returns the parts of a user; without a name, those of the owner of the bridge. */
  of(user: string | undefined): UserParts {
    const known = this.#parts.get(user)
    if (known) return known
    const { settings, log, pool, stores, learning, saved, projects, createJournals } = this.#options
    const { runtime, image, packages, stateDir, cacheDir, userCallCount, userCellSeconds } = settings
    const stateFolder = userFolder(stateDir, user)
    const store = stores.of(user)
    const state: UserState = {
      store,
      origins: new KeptOrigins(store),
      projects: projects?.openProjects(stateFolder),
      saved: saved?.openSaved({
        store,
        cacheFolder: userFolder(cacheDir, user),
        environment: [VERSION, runtime, image, packages],
        takeKernel: () => pool.take(),
        log,
      }),
    }
    const cellMs = userCellSeconds === undefined ? undefined : userCellSeconds * 1000
    const learned = learning?.createLearned(store, log)
    const journals = createJournals?.({ store, vault: signInVault(settings, log), log })
    const own = { state, learned, journals }
    const parts: UserParts =
      user === undefined
        ? own
        : { ...own, quota: new UserQuota({ calls: userCallCount, cellMs }), rules: new UserRules(stateFolder) }
    this.#parts.set(user, parts)
    return parts
  }

  /** Forgets what was learned of changed or removed servers. @param user missing: for all users */
  forgetServers(servers: ReadonlySet<string>, user?: string): void {
    for (const [name, { learned }] of this.#parts)
      if (user === undefined || name === user) void learned?.forget(servers)
  }

  /** Writes what is not written yet. Never rejects. @param isLast the bridge ends */
  async flush(isLast = false): Promise<void> {
    const flush = async ({ learned, journals }: UserParts): Promise<void> => {
      await learned?.flush()
      await journals?.flush(isLast)
    }
    await Promise.all([...this.#parts.values()].map(flush))
  }
}
