// Runs the program from a copy of the package: it loads code for hours or days, while an update may replace the
// package. The copy is not in the cache, which may be cleared at any time.
import {
  accessSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { cacheFolder, stateFolder } from '@sandbridge/core/config/settings/state-folder.ts'
import { isOnlyOurs, makePrivateFolder, removeUnused } from '@sandbridge/core/util/files'
import { COPIES, installation, isCopy, PACKAGE_ROOT, PROGRAM } from '@sandbridge/core/util/installation.ts'

/** Parts of the package that it does not run with. */
const NOT_RUN = new Set(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'dashboards', 'deploy', 'docs', 'schema'])
const DEPENDENCY = 'pyodide'
/** A process says this often that it uses its copy. */
const USED_EVERY_MS = 60_000
/** Long enough for each running process to say so. Timers do not count the time that a computer sleeps. */
const REMOVE_AFTER_MS = 150_000
const KEPT_UNUSED_MS = 86_400_000
/** The client has been answered by then. */
const REPAIR_AFTER_MS = 2_000

/**
 * Makes the copy of this installation if there is none yet, and keeps it while this process runs.
 * @returns the folder of its program; undefined: run from the package itself, as from sources, in a copy, and where no
 * copy can be had
 */
export function copiedProgram(): string | undefined {
  if (isCopy()) keep(PACKAGE_ROOT)
  else if (import.meta.dirname === path.join(PACKAGE_ROOT, 'dist') && !isReadOnly()) {
    const context = { env: process.env, home: homedir() }
    // The cache is better than nothing, where the state folder cannot be the user's alone.
    const copy = copyIn(() => path.join(stateFolder(context), '.sandbridge')) ?? copyIn(() => cacheFolder(context))
    if (copy !== undefined) return path.join(copy, 'dist')
  }
  return undefined
}

/** @returns the copy in this place; undefined when it cannot be there */
function copyIn(place: () => string): string | undefined {
  try {
    const folder = path.join(place(), COPIES)
    const copy = path.join(folder, installation())
    if (!isOnlyOurs(folder)) {
      makePrivateFolder(path.dirname(folder))
      makePrivateFolder(folder)
      // Its code is run.
      if (!isOnlyOurs(folder)) return undefined
    }
    if (!touch(copy)) makeCopy(copy)
    else if (isWhole(statSync(path.join(PACKAGE_ROOT, PROGRAM)), path.join(copy, PROGRAM)))
      setTimeout(() => repair(copy), REPAIR_AFTER_MS).unref()
    else fill(copy)
    keep(copy)
    return copy
  } catch {
    // A disk that is full, or cannot be written to.
    return undefined
  }
}

/** Such a package cannot be replaced in its place either: an image's, or one that the system has mounted. */
function isReadOnly(): boolean {
  try {
    accessSync(PACKAGE_ROOT, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

/** Also removes others that no process uses. */
export function keep(copy: string): void {
  setInterval(() => touch(copy), USED_EVERY_MS).unref()
  setTimeout(() => removeUnused(path.dirname(copy), () => KEPT_UNUSED_MS), REMOVE_AFTER_MS).unref()
}

function touch(copy: string): boolean {
  try {
    utimesSync(copy, new Date(), new Date())
    return true
  } catch {
    return false
  }
}

/** Of several processes that make it at once, one succeeds. */
function makeCopy(copy: string): void {
  const unfinished = `${copy}.${crypto.randomUUID()}`
  try {
    fill(unfinished)
    renameSync(unfinished, copy)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!touch(copy)) throw error
  }
}

/** Nothing is taken from a package that has been replaced meanwhile. */
function repair(copy: string): void {
  try {
    if (installation() === path.basename(copy)) fill(copy)
  } catch {
    // A disk that is full, or a package that has just been removed.
  }
}

/** Adds what is missing in a copy, and replaces files that were cut off or removed, under processes that use it. */
function fill(copy: string): void {
  for (const part of ['package.json', ...neededParts()]) link(path.join(PACKAGE_ROOT, part), path.join(copy, part))
  const installed = createRequire(import.meta.url).resolve(`${DEPENDENCY}/package.json`)
  link(path.dirname(installed), path.join(copy, 'node_modules', DEPENDENCY))
}

function neededParts(): string[] {
  const { files } = JSON.parse(readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { files: string[] }
  return files.filter((part) => !part.startsWith('!') && !NOT_RUN.has(part))
}

/** Package managers replace files and never write into them, so hard links do as well as copies. */
function link(from: string, to: string): void {
  const source = statSync(from, { throwIfNoEntry: false })
  // A part that this installation lacks.
  if (source === undefined) return
  if (source.isDirectory()) {
    mkdirSync(to, { recursive: true })
    for (const name of readdirSync(from)) link(path.join(from, name), path.join(to, name))
    return
  }
  if (isWhole(source, to)) return
  const fresh = `${to}.${crypto.randomUUID()}`
  mkdirSync(path.dirname(to), { recursive: true })
  try {
    linkSync(from, fresh)
  } catch {
    // Another disk, or a package of another user.
    copyFileSync(from, fresh, constants.COPYFILE_FICLONE)
  } finally {
    // Nor half of a file, on a disk that is full.
    if (isWhole(source, fresh)) renameSync(fresh, to)
    else rmSync(fresh, { force: true })
  }
}

function isWhole({ size }: { size: number }, copied: string): boolean {
  return lstatSync(copied, { throwIfNoEntry: false })?.size === size
}
