// Stores `/projects`: one user's files, shared by all sessions. Cells work on copies, which the kernel hands over, so
// no sandbox writes here. Limited in number and size; never follows symbolic links.
import { createHash, randomUUID } from 'node:crypto'
import { constants, lstatSync, readdirSync } from 'node:fs'
import { lstat, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { isPathPart } from '@sandbridge/core/util/stores'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import type { ProjectEntry, Projects } from '@sandbridge/core/parts'
import { READ_AT_ONCE, readPiece, replaceFile, withFileLock, writeFailure } from '@sandbridge/core/util/files'

export interface ProjectLimits {
  fileBytes: number
  totalBytes: number
  /** Files and folders together. */
  entryCount: number
  /** Most levels of folders. */
  depth: number
}

const MIB = 1 << 20
/** Everything fits into the 64 MiB that /projects has in a sandbox. */
const PROJECT_LIMITS: ProjectLimits = {
  fileBytes: 40 * MIB,
  totalBytes: 48 * MIB,
  entryCount: 2_000,
  depth: 16,
}

const LOOK_AGAIN_MS = 2_000
/** A cell ends after this time, and the next one saves its files, if another bridge has the lock. */
const PATIENCE_MS = 2_000

interface ProjectChanges {
  files: { path: string; data: Buffer }[]
  folders: string[]
  removed: string[]
}

interface ProjectReport {
  kept: Record<string, string>
  refused: Record<string, string>
}

export class ProjectStore implements Projects {
  readonly folder: string
  readonly #limits: ProjectLimits
  /** Rewritten at every change by a bridge. */
  readonly #marker: string
  #known: { marked: string; at: number; revision: string } | undefined

  constructor(stateDir: string, limits: ProjectLimits = PROJECT_LIMITS) {
    this.folder = path.join(stateDir, '.sandbridge', 'projects')
    this.#limits = limits
    this.#marker = `${this.folder}.changed`
  }

  list(): ProjectEntry[] {
    const entries: ProjectEntry[] = []
    const pending = ['']
    let room = this.#limits.totalBytes
    for (let folder = pending.shift(); folder !== undefined; folder = pending.shift()) {
      for (const name of namesIn(path.join(this.folder, folder))) {
        const entry = isPathPart(name) ? this.#entry(folder === '' ? name : `${folder}/${name}`) : undefined
        if (entry === undefined || entry.sizeBytes > Math.min(room, this.#limits.fileBytes)) continue
        if (entries.length >= this.#limits.entryCount) return entries
        room -= entry.sizeBytes
        entries.push(entry)
        if (entry.isFolder && depthOf(entry.path) < this.#limits.depth) pending.push(entry.path)
      }
    }
    return entries
  }

  revision(): string {
    const marked = String(lstatOf(this.#marker)?.mtimeNs)
    const known = this.#known
    if (known?.marked === marked && performance.now() - known.at < LOOK_AGAIN_MS) return known.revision
    const at = performance.now()
    const revision = this.#look()
    this.#known = { marked, at, revision }
    return revision
  }

  #look(): string {
    const entries = this.list()
    if (entries.length === 0) return ''
    const hash = createHash('sha256')
    for (const { path: entry, stamp } of entries) hash.update(`${entry}\0${stamp}\n`)
    return hash.digest('hex')
  }

  async read(wanted: string, piece: { offset: number; length: number }): Promise<{ data: Buffer; sizeBytes: number }> {
    const file = await this.#place(wanted)
    try {
      const { data, size } = await readPiece(file, () => piece, READ_AT_ONCE | (constants.O_NOFOLLOW ?? 0))
      return { data, sizeBytes: size }
    } catch {
      throw new BridgeError('STATE_NOT_FOUND', `No such file: /projects/${wanted}`)
    }
  }

  /** Apply the changes that fit the limits. @throws BridgeError STATE_UNWRITABLE if none could be applied */
  async keep({ files, folders, removed }: ProjectChanges): Promise<ProjectReport> {
    // Not by assignment: a file may be called `__proto__`.
    const [kept, failed] = [new Map<string, string>(), new Map<string, string>()]
    const each = async (wanted: string, work: () => Promise<string>): Promise<void> => {
      try {
        kept.set(wanted, await work())
      } catch (error) {
        failed.set(wanted, messageOf(error))
      }
    }
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 })
      const apply = async (): Promise<void> => {
        // Deletions first, to make room; deepest first, since only empty folders are removed.
        for (const gone of removed.toSorted((a, b) => depthOf(b) - depthOf(a)))
          await each(gone, () => this.#remove(gone))
        const quota = new Quota(this.list(), this.#limits)
        for (const folder of folders) await each(folder, () => this.#makeFolder(folder, quota))
        for (const { path: file, data } of files) await each(file, () => this.#write(file, data, quota))
        await this.#mark()
      }
      await withFileLock(`${this.folder}.lock`, apply, PATIENCE_MS)
    } catch (cause) {
      const reason = writeFailure(cause, () => messageOf(cause))
      throw new BridgeError('STATE_UNWRITABLE', `/projects cannot be saved: ${reason}`, { cause })
    }
    return { kept: Object.fromEntries(kept), refused: Object.fromEntries(failed) }
  }

  async remove(wanted: string): Promise<void> {
    const place = await this.#place(wanted)
    if (!this.#entry(wanted)) throw new BridgeError('STATE_NOT_FOUND', `No such file or folder: /projects/${wanted}`)
    await rm(place, { recursive: true })
    await this.#mark()
  }

  /** Tell all bridges that files have changed. */
  async #mark(): Promise<void> {
    await replaceFile(this.#marker, randomUUID())
  }

  /** Undefined unless it is a file or a folder; symbolic links, above all, are neither. */
  #entry(relative: string): ProjectEntry | undefined {
    const found = lstatOf(path.join(this.folder, relative))
    if (!found?.isFile() && !found?.isDirectory()) return undefined
    const isFolder = found.isDirectory()
    const sizeBytes = isFolder ? 0 : Number(found.size)
    const stamp = isFolder ? 'folder' : `${found.ino}:${found.size}:${found.mtimeNs}`
    return { path: relative, isFolder, sizeBytes, stamp, modifiedAt: found.mtime }
  }

  async #write(relative: string, data: Buffer, quota: Quota): Promise<string> {
    const file = await this.#place(relative)
    quota.take(relative, data.byteLength)
    await this.#makeParents(relative, quota)
    if (this.#entry(relative)?.isFolder) await rm(file, { recursive: true })
    await replaceFile(file, data)
    return this.#entry(relative)?.stamp ?? ''
  }

  async #makeFolder(relative: string, quota: Quota): Promise<string> {
    const folder = await this.#place(relative)
    const before = this.#entry(relative)
    if (before?.isFolder) return before.stamp
    await this.#makeParents(relative, quota)
    if (before) await rm(folder)
    quota.take(relative, 0)
    await mkdir(folder, { mode: 0o700 })
    return 'folder'
  }

  async #makeParents(relative: string, quota: Quota): Promise<void> {
    const parent = path.posix.dirname(relative)
    if (parent !== '.') await this.#makeFolder(parent, quota)
  }

  /** Removes a folder only if it is empty: files that another session added stay. */
  async #remove(relative: string): Promise<string> {
    const place = await this.#place(relative)
    const entry = this.#entry(relative)
    if (entry?.isFolder) {
      if (namesIn(place).length === 0) await rm(place, { recursive: true })
    } else await rm(place, { force: true })
    return 'removed'
  }

  /** Returns the full path. Refuses paths with a symbolic link. */
  async #place(relative: string): Promise<string> {
    const parts = relative.split('/')
    if (!parts.every(isPathPart)) throw refused('a part of its path is not a plain file name')
    if (parts.length > this.#limits.depth) throw refused(`it is more than ${this.#limits.depth} folders deep`)
    let place = this.folder
    for (const part of parts) {
      place = path.join(place, part)
      const found = await lstat(place).catch(() => undefined)
      if (found?.isSymbolicLink()) throw refused('its path has a symbolic link')
      if (found === undefined) return path.join(this.folder, ...parts)
    }
    return place
  }
}

export const openProjects = (stateFolder: string): Projects => new ProjectStore(stateFolder)

/** Remaining room under the limits, computed once for many changes. */
class Quota {
  readonly #sizes: Map<string, number>
  readonly #limits: ProjectLimits
  #usedBytes: number

  constructor(entries: readonly ProjectEntry[], limits: ProjectLimits) {
    this.#sizes = new Map(entries.map((entry) => [entry.path, entry.sizeBytes]))
    this.#limits = limits
    this.#usedBytes = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  /** @throws BridgeError STATE_REFUSED if a limit is exceeded */
  take(entry: string, sizeBytes: number): void {
    const { fileBytes, totalBytes, entryCount } = this.#limits
    const before = this.#sizes.get(entry)
    const used = this.#usedBytes - (before ?? 0) + sizeBytes
    if (sizeBytes > fileBytes) throw refused(`the limit of a file is ${fileBytes >> 20} MiB`)
    if (used > totalBytes) throw refused(`the limit of all files is ${totalBytes >> 20} MiB`)
    if (before === undefined && this.#sizes.size >= entryCount)
      throw refused(`the limit is ${entryCount} files and folders`)
    this.#sizes.set(entry, sizeBytes)
    this.#usedBytes = used
  }
}

function namesIn(folder: string): string[] {
  // A link in place of the folder would lead elsewhere.
  if (!lstatOf(folder)?.isDirectory()) return []
  try {
    return readdirSync(folder).toSorted()
  } catch {
    return []
  }
}

function lstatOf(place: string) {
  try {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

function depthOf(relative: string): number {
  return relative.split('/').length
}

function refused(reason: string): BridgeError {
  return new BridgeError('STATE_REFUSED', reason)
}
