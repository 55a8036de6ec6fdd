// A store in a folder of this machine. Several bridges on one machine may use it at once.
import path from 'node:path'
import { FileDocument } from './file-document.ts'
import { withFileLock } from '../../util/files/file-lock.ts'
import { LogFolder } from './log-folder.ts'
import type { Document, Logs, Store, Versions } from '../store.ts'
import { VersionedFolders } from './versioned-folders.ts'

export class FileStore implements Store {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  document(name: string): Document {
    return new FileDocument(path.join(this.#folder, name))
  }

  versions(kind: string, what: string): Versions {
    return new VersionedFolders(path.join(this.#folder, kind), what)
  }

  logs(kind: string): Logs {
    return new LogFolder(path.join(this.#folder, kind))
  }

  exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
    return withFileLock(path.join(this.#folder, `${name}.lock`), work)
  }
}
