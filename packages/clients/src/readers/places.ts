// Where clients keep their files, and what several of them write in the same way. Pure.
import { type ConfigLocation, type HostPaths, inHome, join } from '@sandbridge/core/config'
import { isRecord } from '@sandbridge/core/util/json/json.ts'

/** A file in the platform's folder for settings of desktop applications. */
export function inAppData(place: HostPaths, ...parts: string[]): ConfigLocation {
  if (place.platform === 'darwin') return inHome(place, 'Library', 'Application Support', ...parts)
  if (place.platform !== 'win32') return inXdgConfig(place, ...parts)
  const folder = place.env['APPDATA']
  return folder ? { path: join(place, folder, ...parts), scope: 'user' } : inHome(place, 'AppData', 'Roaming', ...parts)
}

/** A file in `~/.config`, or in XDG_CONFIG_HOME. */
export function inXdgConfig(place: HostPaths, ...parts: string[]): ConfigLocation {
  const folder = place.platform === 'win32' ? undefined : place.env['XDG_CONFIG_HOME']
  return folder ? { path: join(place, folder, ...parts), scope: 'user' } : inHome(place, '.config', ...parts)
}

/** A file in the folder that a variable names, otherwise at `standard`. */
export function inFolderOf(place: HostPaths, variable: string, file: string, standard: ConfigLocation): ConfigLocation {
  const folder = place.env[variable]
  return folder ? { path: join(place, folder, file), scope: 'user' } : standard
}

/** Converts seconds to milliseconds; server-entry.ts refuses anything else. */
export function secondsToMs(value: unknown): unknown {
  return typeof value === 'number' ? value * 1000 : value
}

/** Adds the redirect address that the client registers, from its `callbackPort`, to an `oauth` without one. */
export function withCallback(oauth: unknown, address: (port: string | undefined) => string | undefined): unknown {
  if (!isRecord(oauth) || oauth['redirectUri'] !== undefined) return oauth
  const { callbackPort: port } = oauth
  const isPort = typeof port === 'number' || typeof port === 'string'
  return { ...oauth, redirectUri: address(isPort ? String(port) : undefined) }
}
