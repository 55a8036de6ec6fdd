// Creates private folders. Missing parents get the usual permissions: other users' sandboxes must reach a cache.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { userInfo, tmpdir } from 'node:os'
import path from 'node:path'
import { isInside } from './absolute-path.ts'
import { orUndefined } from '../or-undefined.ts'

/** Whether no other user can write to this user's folder. True on Windows, where a user's folders are private. */
export function isOwnFolderSync(folder: string): boolean {
  if (process.platform === 'win32') return true
  // Missing, or in a folder that this user may not enter.
  const found = orUndefined(() => lstatSync(folder))
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

/** Whether no other user can write to this folder or, on Windows, read in it. */
export function isOnlyOurs(folder: string): boolean {
  if (process.platform === 'win32') return isInProfile(folder, userInfo().homedir)
  return isOwnFolderSync(folder)
}

/** Windows gives a profile's folder to its user; of others Node cannot tell. @param profile as the system says it */
export function isInProfile(folder: string, profile: string): boolean {
  const [inner, outer] = [folder, profile].map((one) => orUndefined(() => realpathSync.native(one)))
  return inner !== undefined && outer !== undefined && inner !== outer && isInside(outer, inner)
}

/** @throws what node:fs throws */
export function makePrivateFolder(folder: string): void {
  makeFolder(path.dirname(folder), 0o755)
  makeFolder(folder, 0o700)
}

/**
 * Creates a folder and its parents. Node's `recursive` reports a misleading ENOENT on a read-only disk, and never
 * returns in /proc, where a folder cannot be created though its parent exists.
 *
 * @throws what node:fs throws
 */
export function makeFolder(folder: string, mode: number, isAgain = false): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || isAgain || path.dirname(folder) === folder) throw error
    makeFolder(path.dirname(folder), mode)
    makeFolder(folder, mode, true)
  }
}

/**
 * Makes the folder if it is missing.
 * @param isReadableByAll others can read it, as the user of root's sandboxes must
 * @returns its path with all links resolved; undefined if it cannot be made or is not this user's alone
 */
export function ownTemporaryFolder(name: string, isReadableByAll = false): string | undefined {
  // On Windows, each user has their own temporary folder.
  const folder = path.join(tmpdir(), `sandbridge-${name}-${process.getuid?.() ?? userInfo().username}`)
  try {
    mkdirSync(folder, { recursive: true, mode: isReadableByAll ? 0o755 : 0o700 })
  } catch {
    return undefined
  }
  return isOwnFolderSync(folder) ? folder : undefined
}
