// Where a package manager writes while it installs a server.
import { createHash } from 'node:crypto'
import path from 'node:path'
import type { PackageLaunch, PackageManager } from './package-launch.ts'

/** A folder that changes during an installation. */
export interface WatchedFolder {
  folder: string
  /** How many levels below it are looked at. */
  depth: number
}

export interface InstallPlace {
  /** Servers with the same one are installed one after the other. */
  cache: string
  watched: WatchedFolder[]
  /** The folder that holds this package alone, where there is one. */
  own?: string
}

interface Surroundings {
  env: Readonly<Record<string, string>>
  home: string
  platform?: NodeJS.Platform
}

/** @param env the environment of the server */
export function installPlace({ manager, packages }: PackageLaunch, around: Surroundings): InstallPlace {
  const cache = cacheOf(manager, around)
  if (manager === 'npm') {
    const own = path.join(cache, '_npx', npxFolder(packages))
    const watched = [
      { folder: own, depth: 3 },
      { folder: path.join(cache, '_cacache', 'tmp'), depth: 1 },
      { folder: path.join(cache, '_cacache', 'index-v5'), depth: 1 },
    ]
    return { cache, watched, own }
  }
  return { cache, watched: [{ folder: cache, depth: 2 }] }
}

/** npm names the folder of the packages of a command line after their names as written. */
function npxFolder(packages: readonly string[]): string {
  const names = packages.toSorted((a, b) => a.localeCompare(b, 'en')).join('\n')
  return createHash('sha512').update(names).digest('hex').slice(0, 16)
}

function cacheOf(manager: PackageManager, { env, home, platform = process.platform }: Surroundings): string {
  const isWindows = platform === 'win32'
  const local = env['LOCALAPPDATA'] ?? path.join(home, 'AppData', 'Local')
  const caches = env['XDG_CACHE_HOME'] ?? (isWindows ? local : path.join(home, '.cache'))
  if (manager === 'pnpm' && env['XDG_CACHE_HOME'] === undefined) {
    if (isWindows) return path.join(local, 'pnpm-cache')
    if (platform === 'darwin') return path.join(home, 'Library', 'Caches', 'pnpm')
  }
  if (manager === 'npm') {
    const configured = env['npm_config_cache'] ?? env['NPM_CONFIG_CACHE']
    return configured ?? (isWindows ? path.join(local, 'npm-cache') : path.join(home, '.npm'))
  }
  if (manager === 'uv')
    return env['UV_CACHE_DIR'] ?? (isWindows ? path.join(local, 'uv', 'cache') : path.join(caches, 'uv'))
  if (manager === 'bun') return path.join(home, '.bun', 'install', 'cache')
  if (manager === 'yarn')
    return isWindows ? path.join(local, 'Yarn', 'Berry', 'cache') : path.join(home, '.yarn', 'berry', 'cache')
  return path.join(caches, manager)
}
