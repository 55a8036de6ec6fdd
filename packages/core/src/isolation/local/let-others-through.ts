// Opens files for root's sandboxes, which run as another user, and the path to them.
import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { isRealRoot } from './real-root.ts'

/** Adds only the right to pass: no folder becomes readable. Changes only folders of root, when this process is root. */
export async function letOthersThrough(folders: readonly string[]): Promise<void> {
  if (!isRealRoot()) return
  for (const folder of folders) {
    const mode = (await stat(folder).catch(() => undefined))?.mode
    if (mode !== undefined && (mode & 0o011) !== 0o011) await chmod(folder, (mode & 0o7777) | 0o011).catch(() => {})
  }
}

/** Makes a folder, and parents of it that are missing, which all users can read, whatever the umask. */
export async function makeReadableFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o755 })
  if (first === undefined) return
  for (let at = folder; ; at = path.dirname(at)) {
    await chmod(at, 0o755)
    if (at === first || at === path.dirname(at)) return
  }
}

/** Has all users read what root has put into a folder, whatever the umask. */
export async function letOthersRead(folder: string): Promise<void> {
  if (!isRealRoot() || (process.umask() & 0o055) === 0) return
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const place = path.join(entry.parentPath, entry.name)
    const { mode } = await stat(place)
    await chmod(place, (mode & 0o7777) | ((mode & 0o100) === 0 ? 0o044 : 0o055))
  }
}

/** If this process is root, returns the first folder on the path to `place` that other users cannot enter. */
export async function closedFolderOnTheWay(place: string): Promise<string | undefined> {
  if (!isRealRoot()) return undefined
  let at = path.parse(place).root
  for (const name of path.relative(at, place).split(path.sep)) {
    const about = await stat(at).catch(() => undefined)
    if (about && (about.mode & 0o001) === 0) return at
    at = path.join(at, name)
  }
  return undefined
}
