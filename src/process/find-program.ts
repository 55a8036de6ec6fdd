// Finds programs the way a shell does, with their full path: what is started must not depend on the folder the bridge happens to be in.
import { accessSync, constants, realpathSync } from 'node:fs'

const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin']

/**
 * Full paths of all programs of this name, in the order of PATH and then in the usual folders. POSIX only. Synchronous: the first cell waits for it
 * while the bridge loads its code, and each answer of the disk would wait for its turn.
 */
export function findPrograms(name: string): string[] {
  const found = new Map<string, string>()
  for (const folder of [...(process.env['PATH'] ?? '').split(':'), ...USUAL_FOLDERS]) {
    if (!folder.startsWith('/')) continue
    const file = `${folder}/${name}`
    try {
      accessSync(file, constants.X_OK)
    } catch {
      continue
    }
    // /bin is /usr/bin on most machines.
    const place = realpathOr(folder)
    if (!found.has(place)) found.set(place, file)
  }
  return [...found.values()]
}

function realpathOr(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
