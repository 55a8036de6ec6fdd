// Finds programs as a shell does, with full paths: which program starts must not depend on the bridge's working folder.
import { accessSync, constants, realpathSync } from 'node:fs'
import path from 'node:path'

const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin']

/**
 * Returns the full paths of all programs of this name, first in PATH order and then in the usual folders. On Windows,
 * only `.exe` files: scripts need a shell.
 * Synchronous: the first cell waits for the result while the bridge loads its code, and each asynchronous disk access
 * would queue behind that.
 */
export function findPrograms(name: string, platform = process.platform): string[] {
  const found = new Map<string, string>()
  const isWindows = platform === 'win32'
  const paths = isWindows ? path.win32 : path.posix
  const folders = (process.env['PATH'] ?? '').split(paths.delimiter)
  for (const folder of isWindows ? folders : [...folders, ...USUAL_FOLDERS]) {
    if (!paths.isAbsolute(folder)) continue
    const file = isWindows ? `${folder}/${name}.exe` : `${folder}/${name}`
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
