// Makes a folder that only its owner can look into. The folders above it, where they have to be made, are the usual ones: a cache also holds what
// sandboxes of another user must be able to reach.
import { lstatSync, mkdirSync, type Stats } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import path from 'node:path'

/** @throws what node:fs throws */
export async function makePrivateFolder(folder: string): Promise<void> {
  await makeFolder(path.dirname(folder), 0o755)
  await makeFolder(folder, 0o700)
}

/** A folder of this user that no other user can write to. Always true on Windows, where the folders of a user are the user's. */
export async function isOwnFolder(folder: string): Promise<boolean> {
  if (process.platform === 'win32') return true
  const found = await lstat(folder).catch(() => undefined)
  return found !== undefined && isOwn(found)
}

/** The same, at once. */
export function isOwnFolderSync(folder: string): boolean {
  if (process.platform === 'win32') return true
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found !== undefined && isOwn(found)
}

function isOwn(found: Stats): boolean {
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

/**
 * With the folders above it. Node's own `recursive` reports ENOENT on a read-only disk, which says nothing, and tries for ever in /proc,
 * where a folder cannot be made though its parent is there.
 *
 * @throws what node:fs throws
 */
export async function makeFolder(folder: string, mode: number): Promise<void> {
  const make = () =>
    mkdir(folder, { mode }).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error,
    )
  let failure = await make()
  if (failure?.code === 'ENOENT' && path.dirname(folder) !== folder) {
    await makeFolder(path.dirname(folder), mode)
    failure = await make()
  }
  if (failure && failure.code !== 'EEXIST') throw failure
}

/** The same as makePrivateFolder, at once. @throws what node:fs throws */
export function makePrivateFolderSync(folder: string): void {
  makeFolderSync(path.dirname(folder), 0o755)
  makeFolderSync(folder, 0o700)
}

function makeFolderSync(folder: string, mode: number): void {
  const make = (): NodeJS.ErrnoException | undefined => {
    try {
      mkdirSync(folder, { mode })
      return undefined
    } catch (error) {
      return error as NodeJS.ErrnoException
    }
  }
  let failure = make()
  if (failure?.code === 'ENOENT' && path.dirname(folder) !== folder) {
    makeFolderSync(path.dirname(folder), mode)
    failure = make()
  }
  if (failure && failure.code !== 'EEXIST') throw failure
}
