// The storage for state that outlives the bridge: this machine's folder, or a shared PostgreSQL database.
import path from 'node:path'
import { fileStore } from './files/file-store.ts'
import { postgres } from './postgres-part.ts'
import type { Store, Stores } from './store.ts'
import { userFolder } from './user-folder.ts'

export interface StoresOptions {
  stateDir: string
  /** The connection URL of a PostgreSQL database. */
  storage: string | undefined
}

/** @throws BridgeError STATE_UNWRITABLE if the database cannot be used */
export async function openStores({ stateDir, storage }: StoresOptions): Promise<Stores> {
  if (storage === undefined) return fileStores(stateDir)
  const { openPostgres } = await postgres.for('MCP_BRIDGE_STORAGE')
  // A user's folder name is unique; the owner has no folder of their own, hence the empty name.
  return openPostgres(storage, (user) => (user === undefined ? '' : path.basename(userFolder('', user))))
}

function fileStores(stateDir: string): Stores {
  const byUser = new Map<string | undefined, Store>()
  return {
    isShared: false,
    of: (user) => {
      const known = byUser.get(user) ?? fileStore(path.join(userFolder(stateDir, user), '.sandbridge'))
      byUser.set(user, known)
      return known
    },
    close: () => Promise.resolve(),
  }
}
