// Notices that a config file has been added, changed or removed, by what the file system says of it. Cheap enough to be asked before every cell:
// most places where a file could be have none, many are in one folder, and a folder tells when something comes into being in it.
import { type BigIntStats, lstatSync, statSync } from 'node:fs'
import path from 'node:path'
import type { ConfigFileSystem } from './config-file.ts'

/** File systems keep times in steps of up to two seconds: a second change within one of these may leave no trace. */
const COARSEST_MS = 2_000
const NOT_THERE = ''

interface Awaited {
  /** The folder as it was; undefined when that says nothing. */
  seen: string | undefined
  /** Where something would come into being in it, or in a folder that would. */
  places: string[]
}

export class PlacesSeen {
  /** How files and folders were. */
  readonly #seen = new Map<string, string>()
  /** By folder. */
  readonly #awaited = new Map<string, Awaited>()

  /** Remember how a file or folder is now, or that it is not there. */
  note(place: string): void {
    if (this.#seen.has(place)) return
    const seen = look(place)
    if (seen !== NOT_THERE || !this.#await(place)) this.#seen.set(place, seen)
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
    for (const [folder, awaited] of Array.from(this.#awaited)) {
      const now = lookSettled(folder)
      if (now !== undefined && now === awaited.seen) continue
      if (awaited.places.some((place) => look(place) !== NOT_THERE)) return true
      // Something else has happened there. It may be a folder on the way to a place, which tells of that one from now on.
      this.#awaited.delete(folder)
      for (const place of awaited.places) this.note(place)
    }
    return false
  }

  /** @returns whether the folder is there that would tell of the place */
  #await(place: string): boolean {
    let entry = place
    let folder = path.dirname(entry)
    while (folder !== entry && look(folder) === NOT_THERE) [entry, folder] = [folder, path.dirname(folder)]
    const awaited = this.#awaited.get(folder) ?? { seen: lookSettled(folder), places: [] }
    // A link to what is not there, which comes into being elsewhere; or it was made a moment ago.
    if (lstatSync(entry, { throwIfNoEntry: false })) return false
    awaited.places.push(place)
    this.#awaited.set(folder, awaited)
    return true
  }
}

/** A few microseconds; asynchronously it would be ten times that. */
function look(place: string): string {
  try {
    const found = statSync(place, { bigint: true, throwIfNoEntry: false })
    return found ? describe(found) : NOT_THERE
  } catch {
    return 'unreadable'
  }
}

/** Undefined while the folder may change without a trace. */
function lookSettled(folder: string): string | undefined {
  try {
    const found = statSync(folder, { bigint: true, throwIfNoEntry: false })
    return found && Date.now() - Number(found.mtimeMs) > COARSEST_MS ? describe(found) : undefined
  } catch {
    return undefined
  }
}

function describe({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`
}
