// Notices when a config file was added, changed or removed, from file system metadata. Fast enough for every cell: most
// possible files do not exist, many share a folder, and a folder's metadata shows when an entry is created in it.
import { type BigIntStats, lstatSync, statSync } from 'node:fs'
import path from 'node:path'
import type { ConfigFileSystem } from './config-file.ts'

/** File systems store times in steps of up to two seconds: a second change within one step may be invisible. */
const COARSEST_MS = 2_000
const NOT_THERE = ''
/** One for all: the stack of an error takes longer than to look at the place. */
const ABSENT = Object.assign(new Error('no such file or folder'), { code: 'ENOENT' })

interface Awaited {
  /** The folder's metadata; undefined while it may change without a trace. */
  seen: string | undefined
  /** Missing places that would be created in this folder or below it. */
  places: string[]
}

export class PlacesSeen {
  /** The metadata of files and folders. */
  readonly #seen = new Map<string, string>()
  /** By folder. */
  readonly #awaited = new Map<string, Awaited>()
  /** By a folder that is not there: what will show that it is created. Many places are in the same ones. */
  readonly #missing = new Map<string, Awaited>()
  readonly #settings: () => string
  readonly #settingsSeen: string

  /** @param settings those on which what is read depends, too, and which may change at any time */
  constructor(settings: () => unknown = () => '') {
    this.#settings = () => JSON.stringify(settings())
    this.#settingsSeen = this.#settings()
  }

  /** Records the current state of a file or folder, also that it does not exist. @returns whether it does */
  note(place: string): boolean {
    const missing = this.#missing.get(path.dirname(place))
    if (missing) {
      missing.places.push(place)
      return false
    }
    const known = this.#seen.get(place)
    const seen = known ?? look(place)
    if (known === undefined && (seen !== NOT_THERE || !this.#await(place))) this.#seen.set(place, seen)
    return seen !== NOT_THERE
  }

  /** The noted places with their state, which another process can compare: see `areUnchanged`. */
  states(): Record<string, string> {
    const missing = [...this.#awaited.values()].flatMap(({ places }) => places)
    return Object.fromEntries([...this.#seen, ...missing.map((place) => [place, NOT_THERE] as const)])
  }

  /**
   * The same file system, but each place is noted before it is read, so that no change is missed. What is not there is
   * not read: there are about a hundred possible places, and each read would wait for a thread.
   */
  noting(fileSystem: ConfigFileSystem): ConfigFileSystem {
    return {
      readFile: (file) => (this.note(file) ? fileSystem.readFile(file) : Promise.reject(ABSENT)),
      readdir: (folder) => (this.note(folder) ? fileSystem.readdir(folder) : Promise.reject(ABSENT)),
    }
  }

  /** Whether one of the places or settings differs from its noted state. */
  hasChanged(): boolean {
    if (this.#settings() !== this.#settingsSeen) return true
    for (const [place, seen] of this.#seen) if (look(place) !== seen) return true
    for (const [folder, awaited] of Array.from(this.#awaited)) {
      const now = lookSettled(folder)
      if (now !== undefined && now === awaited.seen) continue
      if (awaited.places.some((place) => look(place) !== NOT_THERE)) return true
      // Another entry has changed. It may be a folder on the way to a place, whose metadata then shows later changes.
      this.#awaited.delete(folder)
      this.#missing.clear()
      // One of them may be created just now.
      if (awaited.places.map((place) => this.note(place)).includes(true)) return true
    }
    return false
  }

  /** @returns whether an existing folder will show that the place is created */
  #await(place: string): boolean {
    let entry = place
    let folder = path.dirname(entry)
    const missing: string[] = []
    while (folder !== entry && !this.#awaited.has(folder) && look(folder) === NOT_THERE) {
      missing.push(folder)
      entry = folder
      folder = path.dirname(entry)
    }
    const awaited = this.#awaited.get(folder) ?? { seen: lookSettled(folder), places: [] }
    // Either a dangling link, whose target may be created elsewhere, or a new entry.
    if (lstatSync(entry, { throwIfNoEntry: false })) return false
    awaited.places.push(place)
    this.#awaited.set(folder, awaited)
    for (const one of missing) this.#missing.set(one, awaited)
    return true
  }
}

/** Whether places are as another process has noted them. */
export function areUnchanged(states: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(states).every(([place, seen]) => look(place) === seen)
}

/** The state of a file or folder. Takes a few microseconds; an asynchronous call would take ten times that. */
export function look(place: string): string {
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
