// Notices that a config file has been added, changed or removed, by what the file system says of it. Cheap enough to be asked before every cell.
import { statSync } from 'node:fs'
import type { ConfigFileSystem } from './config-file.ts'

export class PlacesSeen {
  readonly #seen = new Map<string, string>()

  /** Remember how a file or folder is now, or that it is not there. */
  note(place: string): void {
    if (!this.#seen.has(place)) this.#seen.set(place, look(place))
  }

  /** The same file system; what is read of it is noted first, so that no change falls between. */
  noting(fileSystem: ConfigFileSystem): ConfigFileSystem {
    return {
      readFile: (file) => {
        this.note(file)
        return fileSystem.readFile(file)
      },
      readdir: (folder) => {
        this.note(folder)
        return fileSystem.readdir(folder)
      },
    }
  }

  /** Whether one of the places is no longer as it was noted. */
  hasChanged(): boolean {
    for (const [place, seen] of this.#seen) if (look(place) !== seen) return true
    return false
  }
}

/** A few microseconds; asynchronously it would be ten times that. */
function look(place: string): string {
  try {
    const found = statSync(place, { bigint: true, throwIfNoEntry: false })
    return found ? `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : ''
  } catch {
    return 'unreadable'
  }
}
