// Finds programs as a shell does, with full paths: which program starts must not depend on the bridge's working folder.
import { accessSync, constants, existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { environmentOf, mergedEnvironment } from './environment.ts'
import { orUndefined } from '../or-undefined.ts'

const SYSTEM_FOLDER = path.win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32')

/** Where installers of engines and other package managers put programs; `~` is the home folder. */
const OF_INSTALLERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['/opt/podman/bin', '/opt/local/bin', '~/.docker/bin', '~/.orbstack/bin', '~/.rd/bin'],
  linux: ['/snap/bin', '/run/current-system/sw/bin', '~/.nix-profile/bin', '/home/linuxbrew/.linuxbrew/bin'],
}

/** Folders that the PATH of a program lacks if a desktop has started it. */
function usualFolders(platform = process.platform): string[] {
  const folders =
    platform === 'win32'
      ? ['.', '..', 'Wbem', 'WindowsPowerShell/v1.0'].map((folder) => path.win32.join(SYSTEM_FOLDER, folder))
      : ['/usr/local/bin', '/usr/bin', '/bin', '/opt/homebrew/bin', ...(OF_INSTALLERS[platform] ?? [])]
  return [...folders, '~/.local/bin'].map((folder) => folder.replace(/^~/, homedir()))
}

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
  extensions = platform === 'win32' ? ['.exe'] : [''],
): Map<string, string> {
  const found = new Map<string, string>()
  const paths = platform === 'win32' ? path.win32 : path.posix
  // A folder of Windows may be in quotes.
  const folders = (searchPath ?? '').split(paths.delimiter).map((folder) => folder.replace(/^"(.*)"$/, '$1'))
  for (const folder of new Set([...folders, ...usualFolders(platform)])) {
    if (!paths.isAbsolute(folder)) continue
    // Checking is far faster than letting the next line throw.
    const file = extensions.map((extension) => `${folder}/${name}${extension}`).find((one) => existsSync(one))
    if (file === undefined) continue
    if (platform === 'darwin' && isStub(file)) continue
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

const DEVELOPER_TOOLS = ['/Library/Developer/CommandLineTools', '/Applications/Xcode.app', '/var/db/xcode_select_link']

/** What macOS has in place of a program of its developer tools: without them, it asks the user to install them. */
export function isStub(file: string, tools = DEVELOPER_TOOLS): boolean {
  return /^\/usr\/bin\/(python3|pip3|git)$/.test(file) && !tools.some((place) => existsSync(place))
}

/** What to start in place of a command's name, and with which variables. */
export interface FoundProgram {
  file: string
  env: NodeJS.ProcessEnv
}

/**
 * Every program is started by what this returns. Windows looks for a name in the working folder first, which may be a
 * project of somebody else: there, a name becomes a full path, and what is started does not look there either. A
 * program that is nowhere becomes a path in the system's folder, at which the start says that it is missing.
 * @param env the whole environment of the program
 * @param extensions of what can be started on Windows
 */
export function foundProgram(
  command: string,
  env: NodeJS.ProcessEnv = commandEnvironment(),
  extensions: readonly string[] = ['.com', '.exe'],
  platform = process.platform,
): FoundProgram {
  if (platform !== 'win32') return { file: command, env }
  const safe = mergedEnvironment([env, { NoDefaultCurrentDirectoryInExePath: '1' }], platform)
  if (/[/\\:]/.test(command)) return { file: command, env: safe }
  const isWhole = extensions.some((one) => command.toLowerCase().endsWith(one.toLowerCase()))
  const places = findPlaces(command, environmentOf(env, platform)['PATH'], platform, isWhole ? [''] : [...extensions])
  const [file = path.win32.join(SYSTEM_FOLDER, command)] = places.values()
  return { file, env: safe }
}

/** A PATH with the usual folders at its end. */
export function withUsualFolders(searchPath = '', more: readonly string[] = []): string {
  const folders = searchPath.split(path.delimiter).filter((folder) => folder !== '')
  return [...new Set([...folders, ...more, ...usualFolders()])].join(path.delimiter)
}

/** The variables of a command that is found as `findPrograms` does, and so are the programs that it starts itself. */
export function commandEnvironment(): NodeJS.ProcessEnv {
  if (process.platform === 'win32') return process.env
  return { ...process.env, PATH: withUsualFolders(process.env['PATH']) }
}

/** With all links resolved, where it is there. */
export function realpathOr(folder: string): string {
  return orUndefined(() => realpathSync.native(folder)) ?? folder
}
