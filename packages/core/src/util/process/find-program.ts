// Finds programs as a shell does, with full paths: which program starts must not depend on the bridge's working folder.
import { accessSync, constants, existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'

/** Where installers of engines and other package managers put programs. */
const OF_INSTALLERS =
  process.platform === 'darwin'
    ? ['/opt/podman/bin', '/opt/local/bin', `${homedir()}/.docker/bin`, `${homedir()}/.orbstack/bin`]
    : ['/snap/bin', '/run/current-system/sw/bin', `${homedir()}/.nix-profile/bin`, '/home/linuxbrew/.linuxbrew/bin']

/** Not in the PATH of every program that a desktop has started. */
const USUAL_FOLDERS = [
  ...(process.platform === 'win32'
    ? ['System32', '.', 'System32/Wbem', 'System32/WindowsPowerShell/v1.0'].map((folder) =>
        path.join(process.env['SystemRoot'] ?? 'C:/Windows', folder),
      )
    : ['/usr/local/bin', '/usr/bin', '/bin', '/opt/homebrew/bin', ...OF_INSTALLERS]),
  path.join(homedir(), '.local/bin'),
]

/**
 * Returns the full paths of all programs of this name, first in PATH order and then in the usual folders. On Windows,
 * only `.exe` files: scripts need a shell.
 * Synchronous: the first cell waits for the result while the bridge loads its code, and each asynchronous disk access
 * would queue behind that.
 */
export function findPrograms(name: string, platform = process.platform): string[] {
  return [...findPlaces(name, process.env['PATH'], platform).values()]
}

/** The same by their folders, with all links resolved: equal for each PATH that leads to the same programs. */
export function findPlaces(
  name: string,
  searchPath: string | undefined,
  platform = process.platform,
): Map<string, string> {
  const found = new Map<string, string>()
  const isWindows = platform === 'win32'
  const paths = isWindows ? path.win32 : path.posix
  const folders = (searchPath ?? '').split(paths.delimiter)
  for (const folder of new Set(isWindows ? folders : [...folders, ...USUAL_FOLDERS])) {
    if (!paths.isAbsolute(folder)) continue
    const file = isWindows ? `${folder}/${name}.exe` : `${folder}/${name}`
    // Far faster than the error of the next line.
    if (!existsSync(file)) continue
    try {
      accessSync(file, constants.X_OK)
    } catch {
      continue
    }
    // /bin is a link to /usr/bin on most machines.
    const place = realpathOr(folder)
    if (!found.has(place)) found.set(place, file)
  }
  return found
}

/** A PATH with the usual folders at its end. */
export function withUsualFolders(searchPath = ''): string {
  const folders = searchPath.split(path.delimiter).filter((folder) => folder !== '')
  return [...folders, ...USUAL_FOLDERS.filter((folder) => !folders.includes(folder))].join(path.delimiter)
}

/** The variables of a command that is found as `findPrograms` does, and so are the programs that it starts itself. */
export function commandEnvironment(): NodeJS.ProcessEnv {
  if (process.platform === 'win32') return process.env
  return { ...process.env, PATH: withUsualFolders(process.env['PATH']) }
}

/** With all links resolved, where it is there. */
export function realpathOr(folder: string): string {
  try {
    return realpathSync.native(folder)
  } catch {
    return folder
  }
}
