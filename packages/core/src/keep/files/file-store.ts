// A store in a folder of this machine. Several bridges on one machine may use it at once.
import path from 'node:path'
import { fileDocument } from './file-document.ts'
import { withFileLock } from '../../util/files/file-lock.ts'
import { LogFolder } from './log-folder.ts'
import type { Store } from '../store.ts'
import { VersionedFolders } from './versioned-folders.ts'

export function fileStore(folder: string): Store {
  return {
    document: (name) => fileDocument(path.join(folder, name)),
    versions: (kind, what) => new VersionedFolders(path.join(folder, kind), what),
    logs: (kind) => new LogFolder(path.join(folder, kind)),
    exclusively: (name, work) => withFileLock(path.join(folder, `${name}.lock`), work),
  }
}
