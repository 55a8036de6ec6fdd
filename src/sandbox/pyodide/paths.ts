// Where things are: our own files for the sandbox process, and the cache folder.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../../package-root.ts'

/** The JavaScript that runs in the sandbox process, as it is: nothing compiles it. */
export const insideFolder = join(PACKAGE_ROOT, 'src/sandbox/pyodide/inside')

export interface Machine {
  platform: NodeJS.Platform
  env: NodeJS.ProcessEnv
  home: string
  isRoot: boolean
}

export function thisMachine(): Machine {
  return { platform: process.platform, env: process.env, home: homedir(), isRoot: process.getuid?.() === 0 }
}

/**
 * Where bundles are kept: what XDG_CACHE_HOME says, or the platform's own place for caches. Root on Linux uses /var/cache, because there
 * the sandbox runs as another user, who cannot look into root's home.
 */
export function defaultCacheFolder({ platform, env, home, isRoot }: Machine): string {
  if (env['XDG_CACHE_HOME']) return join(env['XDG_CACHE_HOME'], 'sandbridge')
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'sandbridge')
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'sandbridge')
  return isRoot ? '/var/cache/sandbridge' : join(home, '.cache', 'sandbridge')
}
