// Starts a resident from a copy of the package: it lives for days and loads much of its code when that is first needed,
// while an update replaces the package.
import { hash } from 'node:crypto'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { makePrivateFolderSync, removeUnused } from '@sandbridge/core/util/files'
import { PACKAGE_ROOT } from '@sandbridge/core/util'
import { installation } from '../resident-key.ts'
import { isOnlyOurs } from '../run-folder.ts'

const FOLDER = 'residents'
/** Parts of the package that it does not run with. */
const NOT_RUN = new Set(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'dashboards', 'deploy', 'docs', 'schema'])
const DEPENDENCY = 'pyodide'
/** A resident says this often that it uses its copy. */
const USED_EVERY_MS = 60_000
/** Timers do not count the time that a computer sleeps. */
const KEPT_UNUSED_MS = 86_400_000

/**
 * Makes the copy of this installation if there is none yet, and repairs one that is not whole.
 * @param script what started this process
 * @returns the script to start instead; the same one when it is not that of the bundle, or when no copy can be had
 */
export function copiedScript(cacheDir: string, script: string): string {
  const copied = path.join('dist', 'cli.js')
  const folder = path.join(cacheDir, FOLDER)
  try {
    if (fs.realpathSync(script) !== path.join(PACKAGE_ROOT, copied)) return script
    makePrivateFolderSync(folder)
    // Its code is run.
    if (!isOnlyOurs(folder)) return script
    const copy = path.join(folder, hash('sha256', JSON.stringify(installation())).slice(0, 20))
    if (touch(copy)) fill(copy)
    else {
      removeUnused(folder, () => KEPT_UNUSED_MS)
      makeCopy(copy)
    }
    return path.join(copy, copied)
  } catch {
    // A disk that is full, or cannot be written to.
    return script
  }
}

/** For a resident: its copy stays while it runs. */
export function keepOwnCopy(): void {
  if (path.basename(path.dirname(PACKAGE_ROOT)) === FOLDER)
    setInterval(() => touch(PACKAGE_ROOT), USED_EVERY_MS).unref()
}

function touch(copy: string): boolean {
  try {
    fs.utimesSync(copy, new Date(), new Date())
    return true
  } catch {
    return false
  }
}

/** Of several relays that make it at once, one succeeds. */
function makeCopy(copy: string): void {
  const unfinished = `${copy}.${process.pid}`
  fs.rmSync(unfinished, { recursive: true, force: true })
  try {
    fill(unfinished)
    fs.renameSync(unfinished, copy)
  } catch (error) {
    fs.rmSync(unfinished, { recursive: true, force: true })
    if (!touch(copy)) throw error
  }
}

/** Adds what is missing in a copy, and replaces files that were cut off or removed, under residents that use it. */
function fill(copy: string): void {
  for (const part of ['package.json', ...neededParts()]) link(path.join(PACKAGE_ROOT, part), path.join(copy, part))
  const installed = createRequire(import.meta.url).resolve(`${DEPENDENCY}/package.json`)
  link(path.dirname(installed), path.join(copy, 'node_modules', DEPENDENCY))
}

function neededParts(): string[] {
  const { files } = JSON.parse(fs.readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { files: string[] }
  return files.filter((part) => !part.startsWith('!') && !NOT_RUN.has(part))
}

/** Package managers replace files and never write into them, so hard links do as well as copies. */
function link(from: string, to: string): void {
  const source = fs.statSync(from, { throwIfNoEntry: false })
  // A part that this installation lacks.
  if (source === undefined) return
  if (source.isDirectory()) {
    fs.mkdirSync(to, { recursive: true })
    for (const name of fs.readdirSync(from)) link(path.join(from, name), path.join(to, name))
    return
  }
  if (fs.lstatSync(to, { throwIfNoEntry: false })?.size === source.size) return
  fs.mkdirSync(path.dirname(to), { recursive: true })
  const fresh = `${to}.${process.pid}`
  try {
    fs.linkSync(from, fresh)
  } catch {
    // Another disk, or a package of another user.
    copyOrNothing(from, fresh)
  }
  fs.renameSync(fresh, to)
}

/** Leaves no half of a file on a disk that is full. */
function copyOrNothing(from: string, to: string): void {
  try {
    fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE)
  } catch (error) {
    fs.rmSync(to, { force: true })
    throw error
  }
}
