// Finds programs as a shell does, with full paths: which program starts must not depend on the bridge's working folder.
import { accessSync, constants, realpathSync } from 'node:fs'

const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin']

/**
 * Returns the full paths of all programs of this name, first in PATH order and then in the usual folders. POSIX only.
 * Synchronous: the first cell waits for the result while the bridge loads its code, and each asynchronous disk access
 * would queue behind that.
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
    // /bin is a link to /usr/bin on most machines.
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
