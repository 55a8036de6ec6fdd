// A folder for temporary files that has the same place in every process of this user. Whoever may write to the system's
// own folder can have made it before: it is used only if it is this user's, and nobody else can change it.
import { mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { isOwnFolderSync } from './private-folder.ts'

/**
 * Makes the folder if it is missing.
 * @param isReadableByAll others can read it, as the user of root's sandboxes must
 * @returns its path with all links resolved; undefined if it cannot be made or is not this user's alone
 */
export function ownTemporaryFolder(name: string, isReadableByAll = false): string | undefined {
  // Windows has a folder for each user.
  const folder = path.join(tmpdir(), `sandbridge-${name}-${process.getuid?.() ?? userInfo().username}`)
  try {
    mkdirSync(folder, { recursive: true, mode: isReadableByAll ? 0o755 : 0o700 })
  } catch {
    return undefined
  }
  return isOwnFolderSync(folder) ? folder : undefined
}
