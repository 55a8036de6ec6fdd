// Opens the path to files for root's sandboxes, which run as another user. Adds only the right to pass: no folder
// becomes readable.
import { chmod, stat } from 'node:fs/promises'
import path from 'node:path'

/** Changes only folders of root, when this process is root. */
export async function letOthersThrough(folders: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const folder of folders) {
    const mode = (await stat(folder).catch(() => undefined))?.mode
    if (mode !== undefined && (mode & 0o011) !== 0o011) await chmod(folder, (mode & 0o7777) | 0o011).catch(() => {})
  }
}

/** If this process is root, returns the first folder on the path to `place` that other users cannot enter. */
export async function closedFolderOnTheWay(place: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return undefined
  let at = path.parse(place).root
  for (const name of path.relative(at, place).split(path.sep)) {
    const about = await stat(at).catch(() => undefined)
    if (about && (about.mode & 0o001) === 0) return at
    at = path.join(at, name)
  }
  return undefined
}
