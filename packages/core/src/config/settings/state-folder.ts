// Folders that are known before the settings are read: what they hold decides who reads them, and how fast.
import path from 'node:path'
import { absolutePath, unquoted } from '../../util/files/absolute-path.ts'
import type { ClientContext } from './client-context.ts'
import type { SettingContext } from './setting-kinds.ts'

/** The folder of MCP_BRIDGE_STATE_DIR, or the standard one. */
export function stateFolder({ home, env }: Pick<ClientContext, 'home' | 'env'>): string {
  const set = unquoted(env['MCP_BRIDGE_STATE_DIR'] ?? '')
  return set ? absolutePath(set, home) : path.join(home, 'MCPs')
}

export function keptPackagesFile(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'packages.json')
}

/** The folder of MCP_BRIDGE_CACHE_DIR, or the standard one, on this machine. */
export function cacheFolder({ env, home }: Pick<SettingContext, 'env' | 'home'>): string {
  const set = unquoted(env['MCP_BRIDGE_CACHE_DIR'] ?? '')
  if (set) return absolutePath(set, home)
  return standardCacheDir({ env, home, platform: process.platform, isRoot: process.getuid?.() === 0 })
}

/** The folder when nothing is set. */
export function standardCacheDir({ env, home, platform, isRoot }: SettingContext): string {
  const shared = env['XDG_CACHE_HOME']
  if (shared?.trim()) return path.join(shared, 'sandbridge')
  if (platform === 'darwin') return path.join(home, 'Library', 'Caches', 'sandbridge')
  if (platform === 'win32') return path.join(env['LOCALAPPDATA'] ?? path.join(home, 'AppData', 'Local'), 'sandbridge')
  // Root's sandboxes run as another user, who cannot read root's home.
  return isRoot ? '/var/cache/sandbridge' : path.join(home, '.cache', 'sandbridge')
}

/** The file with sign-ins to remote servers. @param folder the bridge's or a user's */
export function tokensFile(folder: string): string {
  return path.join(folder, '.sandbridge', 'tokens.json')
}
