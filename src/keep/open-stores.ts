// Chooses the storage for state that outlives the bridge: this machine's state folder, or the PostgreSQL database that
// several bridges share.
import path from 'node:path'
import { FileStore } from './files/file-store.ts'
import type { Store } from './store.ts'
import { userFolder } from './user-folder.ts'

/** The stores of all users. */
export interface Stores {
  /** Returns a user's store; without a name, that of the owner of the bridge. */
  of(user: string | undefined): Store
  /** True if other machines may use it, too. */
  readonly isShared: boolean
  close(): Promise<void>
}

export interface StoresOptions {
  stateDir: string
  /** The connection URL of a PostgreSQL database. */
  storage: string | undefined
}

/** @throws BridgeError STATE_UNWRITABLE if the database cannot be used */
export async function openStores({ stateDir, storage }: StoresOptions): Promise<Stores> {
  if (storage === undefined) return new FileStores(stateDir)
  const { PostgresStores } = await import('./postgres/postgres-stores.ts')
  // A user's folder name is unique; the owner has no folder of their own, hence the empty name.
  return PostgresStores.open(storage, (user) => (user === undefined ? '' : path.basename(userFolder('', user))))
}

class FileStores implements Stores {
  readonly isShared = false
  readonly #stateDir: string
  readonly #byUser = new Map<string | undefined, Store>()

  constructor(stateDir: string) {
    this.#stateDir = stateDir
  }

  of(user: string | undefined): Store {
    const known = this.#byUser.get(user) ?? new FileStore(path.join(userFolder(this.#stateDir, user), '.sandbridge'))
    this.#byUser.set(user, known)
    return known
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
