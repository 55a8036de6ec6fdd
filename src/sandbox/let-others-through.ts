// Root's sandboxes run as another user, who has to get to what they use. Only the way is opened: nothing else in the folders becomes readable.
import { chmod, stat } from 'node:fs/promises'
import path from 'node:path'

/** Does something only for root, whose folders these are. */
export async function letOthersThrough(folders: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const folder of folders) {
    const mode = (await stat(folder).catch(() => undefined))?.mode
    if (mode !== undefined && (mode & 0o011) !== 0o011) await chmod(folder, (mode & 0o7777) | 0o011).catch(() => {})
  }
}

/** The first folder on the way to `place` that keeps other users out, where sandboxes run as one. */
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
