// What a reader is: where one client keeps its MCP servers, and how its file's values become entries. Readers are pure; discover.ts reads the files.
import path from 'node:path'
import type { ConfigFormat, ConfigObject } from '../config-document.ts'
import { isRecord } from '../../text/json.ts'
import type { PlaceholderSyntax } from '../placeholders.ts'
import { translate } from '../placeholders.ts'
import type { ServerEntry } from '../server-entry.ts'

/** The machine, as far as it decides where files are. All paths are absolute and in the platform's own form. */
export interface HostPaths {
  platform: NodeJS.Platform
  home: string
  cwd: string
  env: Record<string, string | undefined>
  stateDir: string
  serversConfig: readonly string[]
}

/** A file to read, or a folder whose `*.json` files are read. A project file was brought along by the project in the current directory. */
export interface ConfigLocation {
  path: string
  scope: 'user' | 'project'
  kind?: 'folder'
  /** A file of the folder that holds no servers. */
  except?: string
  /** Where it is not the format of its reader. */
  format?: ConfigFormat
  /** The user named this very file, so it is worth a word when it is missing. */
  expected?: boolean
}

export interface NamedEntry {
  name: string
  /** With placeholders in our syntax; undefined for a value that is not an object. */
  entry: ServerEntry | undefined
}

export interface Reader {
  client: string
  format: ConfigFormat
  locations(place: HostPaths): ConfigLocation[]
  /** The servers of one file, in its order; undefined when the file has no place for servers at all. */
  entries(document: ConfigObject, place: HostPaths): NamedEntry[] | undefined
  /** The file is there for servers only, so it is worth a word when it has no place for them. */
  dedicated?: boolean
}

/**
 * The entries of a table of servers: their placeholders translated from `syntax`, their fields mapped by `map`.
 * @param described the file's own description, for servers that have none
 */
export function entriesOf(
  table: unknown,
  syntax: PlaceholderSyntax,
  map?: (raw: ConfigObject, name: string) => ServerEntry,
  described?: unknown,
): NamedEntry[] | undefined {
  if (!isRecord(table)) return undefined
  return Object.entries(table).map(([name, raw]) => {
    if (!isRecord(raw)) return { name, entry: undefined }
    // A description is prose: nothing in it is a placeholder.
    const { description, ...fields } = raw
    const entry = { ...translate(fields, syntax), description: description ?? described }
    return { name, entry: map ? map(entry, name) : entry }
  })
}

/** `path.join` in the place's own form. */
export function join(place: HostPaths, ...parts: string[]): string {
  return (place.platform === 'win32' ? path.win32 : path.posix).join(...parts)
}

/** A file in the home folder. */
export function inHome(place: HostPaths, ...parts: string[]): ConfigLocation {
  return { path: join(place, place.home, ...parts), scope: 'user' }
}

/** A file in the current directory. */
export function inProject(place: HostPaths, ...parts: string[]): ConfigLocation {
  return { path: join(place, place.cwd, ...parts), scope: 'project' }
}

/** A file where the platform's desktop applications keep their settings. */
export function inAppData(place: HostPaths, ...parts: string[]): ConfigLocation {
  if (place.platform === 'darwin') return inHome(place, 'Library', 'Application Support', ...parts)
  if (place.platform !== 'win32') return inXdgConfig(place, ...parts)
  const folder = place.env['APPDATA']
  return folder ? { path: join(place, folder, ...parts), scope: 'user' } : inHome(place, 'AppData', 'Roaming', ...parts)
}

/** A file in `~/.config`, or where XDG_CONFIG_HOME says. */
export function inXdgConfig(place: HostPaths, ...parts: string[]): ConfigLocation {
  const folder = place.platform === 'win32' ? undefined : place.env['XDG_CONFIG_HOME']
  return folder ? { path: join(place, folder, ...parts), scope: 'user' } : inHome(place, '.config', ...parts)
}

/** A file in the folder that a variable names, or else at `standard`. */
export function inFolderOf(place: HostPaths, variable: string, file: string, standard: ConfigLocation): ConfigLocation {
  const folder = place.env[variable]
  return folder ? { path: join(place, folder, file), scope: 'user' } : standard
}

/** Seconds as milliseconds; anything else is left for server-entry.ts to refuse. */
export function secondsToMs(value: unknown): unknown {
  return typeof value === 'number' ? value * 1000 : value
}

/** An `oauth` with the address that a client has its users register, by its `callbackPort`, where it does not name one. */
export function withCallback(oauth: unknown, address: (port: string | undefined) => string | undefined): unknown {
  if (!isRecord(oauth) || oauth['redirectUri'] !== undefined) return oauth
  const { callbackPort: port } = oauth
  const isPort = typeof port === 'number' || typeof port === 'string'
  return { ...oauth, redirectUri: address(isPort ? String(port) : undefined) }
}
