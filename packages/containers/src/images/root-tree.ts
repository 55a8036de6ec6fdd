// Writes the content of archives below one folder, and nowhere else. Archives are untrusted: links are resolved with
// this folder as the root of a system, and anything in the way is removed, not written through. No other process may
// write in the folder meanwhile. Files that only some users of the image could read stay unreadable: a container's user
// could not read them either.
import {
  chmodSync,
  closeSync,
  fchmodSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeSync,
  type Stats,
} from 'node:fs'
import path from 'node:path'

/** Linux follows as many. */
const MAX_LINKS = 40

/** Says why an archive is not unpacked, as the end of a sentence about it. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
}

/** Mode and time of an archive entry. */
export interface Attributes {
  mode: number
  mtime: Date
}

export class RootTree {
  readonly #root: string
  /**
   * Known folders below the root, with no link in their path: looking each up again for every file would take longer
   * than writing it.
   */
  readonly #folders = new Set<string>()
  /** Folders that other users could not enter in the image. */
  readonly #closed = new Set<string>()
  /** Entries of the current layer, with their parent folders. */
  #written = new Set<string>()

  /** @param root a folder that no other process uses */
  constructor(root: string) {
    this.#root = root
  }

  /** Begin a layer on top of the existing files; see `whiteOut`. */
  startLayer(): void {
    this.#written = new Set()
  }

  /** @throws ArchiveError, and what node:fs throws */
  addFolder(name: string, { mode }: Attributes): void {
    const place = this.#placeOf(name)
    if (place === undefined) return
    if (this.#stat(place)?.isDirectory() !== true) {
      this.#remove(place)
      this.#makeFolder(place)
    }
    this.#note(place)
    if ((mode & 0o001) === 0) this.#closed.add(place)
    else this.#closed.delete(place)
  }

  /** Add a file whose content `fill` writes. @throws ArchiveError, and what node:fs or `fill` throws */
  async addFile(
    name: string,
    { mode, mtime }: Attributes,
    fill: (write: (data: Uint8Array) => void) => Promise<void>,
  ): Promise<void> {
    const place = this.#placeOf(name)
    if (place === undefined) throw new ArchiveError('has a file in place of its root')
    this.#remove(place)
    const fd = openSync(this.#full(place), 'wx', 0o600)
    try {
      await fill((data) => {
        for (let at = 0; at < data.length;) at += writeSync(fd, data, at)
      })
      // Neither setuid nor writable. Python compares the time with its bytecode.
      fchmodSync(fd, ((mode & 0o004) === 0 ? 0 : 0o444) | ((mode & 0o001) === 0 ? 0 : 0o111))
      futimesSync(fd, mtime, mtime)
    } finally {
      closeSync(fd)
    }
    this.#note(place)
  }

  /** @throws ArchiveError, and what node:fs throws */
  addSymlink(name: string, target: string): void {
    const place = this.#placeOf(name)
    if (place === undefined) throw new ArchiveError('has a link in place of its root')
    this.#remove(place)
    symlinkSync(target, this.#full(place))
    this.#note(place)
  }

  /** Add another name for a file. @throws ArchiveError if there is no such file, and what node:fs throws */
  addHardLink(name: string, target: string): void {
    const place = this.#placeOf(name)
    const original = this.#find(target)
    if (place === undefined || original === undefined) throw new ArchiveError(`links ${shown(name)} to no file of it`)
    if (place === original) return
    const found = this.#stat(original)
    this.#remove(place)
    if (found?.isSymbolicLink()) symlinkSync(readlinkSync(this.#full(original)), this.#full(place))
    else if (found?.isFile()) linkSync(this.#full(original), this.#full(place))
    else throw new ArchiveError(`links ${shown(name)} to no file of it`)
    this.#note(place)
  }

  /** Remove what earlier layers have at `name`. */
  whiteOut(name: string): void {
    const place = this.#find(name)
    if (place !== undefined) this.#remove(place)
  }

  /** Remove what earlier layers have in a folder. */
  whiteOutContent(name: string): void {
    const folder = this.#folderAt(partsOf(name), false)
    if (folder !== undefined) this.#removeUnwritten(folder)
  }

  /** Returns the path of a regular file on this machine, with links resolved; undefined if there is none. */
  fileAt(name: string): string | undefined {
    let parts = partsOf(name)
    for (let hops = 0; hops <= MAX_LINKS; hops += 1) {
      const folder = this.#folderAt(parts.slice(0, -1), false)
      const last = parts.at(-1)
      if (folder === undefined || last === undefined) return undefined
      const place = join(folder, last)
      const found = this.#stat(place)
      if (!found?.isSymbolicLink()) return found?.isFile() ? this.#full(place) : undefined
      const target = readlinkSync(this.#full(place))
      parts = path.posix.resolve('/', folder, target).split('/').filter(Boolean)
    }
    return undefined
  }

  /** Empty the folders that other users could not enter. Call it last. */
  finish(): void {
    for (const name of this.#closed) {
      // A later layer may have replaced it with a link to a folder that is open.
      if (this.#folderAt(name.split('/'), false) !== name) continue
      this.#remove(name)
      this.#makeFolder(name)
    }
  }

  /** Returns where an entry belongs, creates its folder, and resolves links; undefined for the root. */
  #placeOf(name: string): string | undefined {
    const parts = partsOf(name)
    const last = parts.at(-1)
    return last === undefined ? undefined : join(this.#folderAt(parts.slice(0, -1), true)!, last)
  }

  /** The same for an existing entry, which may itself be a link. */
  #find(name: string): string | undefined {
    const parts = partsOf(name)
    const last = parts.at(-1)
    const folder = last === undefined ? undefined : this.#folderAt(parts.slice(0, -1), false)
    return folder === undefined ? undefined : join(folder, last!)
  }

  /** Returns the folder for these names, with links resolved. Creates missing folders, or returns undefined. */
  #folderAt(names: readonly string[], make: boolean): string | undefined {
    if (this.#folders.has(names.join('/'))) return names.join('/')
    const left = [...names]
    let at = ''
    let links = 0
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      if (name === '' || name === '.') continue
      if (name === '..') {
        at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
        continue
      }
      const next = join(at, name)
      const found = this.#folders.has(next) ? 'folder' : this.#stat(next)
      if (found === undefined) {
        if (!make) return undefined
        this.#makeFolder(next)
        at = next
      } else if (found === 'folder' || found.isDirectory()) {
        this.#folders.add(next)
        at = next
      } else if (found.isSymbolicLink()) {
        if ((links += 1) > MAX_LINKS) throw new ArchiveError(`has links in a circle at ${shown(next)}`)
        const target = readlinkSync(this.#full(next))
        if (target.startsWith('/')) at = ''
        left.unshift(...target.split('/'))
      } else if (make) throw new ArchiveError(`has a file where a folder is needed: ${shown(next)}`)
      else return undefined
    }
    return at
  }

  #makeFolder(place: string): void {
    mkdirSync(this.#full(place))
    // Independent of the umask: a sandbox may run as another user.
    chmodSync(this.#full(place), 0o755)
    this.#folders.add(place)
  }

  #remove(place: string): void {
    const found = this.#stat(place)
    if (found === undefined) return
    rmSync(this.#full(place), { recursive: true, force: true })
    if (found.isDirectory()) this.#folders.clear()
  }

  #removeUnwritten(folder: string): void {
    for (const name of readdirSync(this.#full(folder))) {
      const place = join(folder, name)
      if (!this.#written.has(place)) this.#remove(place)
      else if (this.#stat(place)?.isDirectory()) this.#removeUnwritten(place)
    }
  }

  #note(place: string): void {
    for (let at = place; at !== '' && !this.#written.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
      this.#written.add(at)
    }
  }

  #stat(place: string): Stats | undefined {
    return lstatSync(this.#full(place), { throwIfNoEntry: false })
  }

  #full(place: string): string {
    return `${this.#root}/${place}`
  }
}

function partsOf(name: string): string[] {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw new ArchiveError(`has an entry outside of it: ${shown(name)}`)
  return parts
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}
