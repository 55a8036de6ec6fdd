// The storage for state that outlives the bridge: this machine's folder, or a shared PostgreSQL database.
import path from 'node:path'
import { postgres } from './postgres-part.ts'
import type { Store, Stores } from './store.ts'
import { userFolder } from './stored-name.ts'
import { fileDocument } from './files/file-document.ts'
import { withFileLock } from '../files/file-lock.ts'
import { LogFolder } from './files/log-folder.ts'
import { VersionedFolders } from './files/versioned-folders.ts'

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

export function fileStore(folder: string): Store {
  return {
    document: (name) => fileDocument(path.join(folder, name)),
    versions: (kind, what) => new VersionedFolders(path.join(folder, kind), what),
    logs: (kind) => new LogFolder(path.join(folder, kind)),
    exclusively: (name, work) => withFileLock(path.join(folder, `${name}.lock`), work),
  }
}
