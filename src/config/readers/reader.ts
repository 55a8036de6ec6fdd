// What a reader is: where one client keeps its MCP servers, and how its file's values become entries. Readers are pure; discover.ts reads the files.
import path from 'node:path'
import type { ConfigFormat, ConfigObject } from '../config-document.ts'
import type { PlaceholderSyntax } from '../placeholders.ts'
import type { ServerEntry } from '../server-entry.ts'

/** The machine, as far as it decides where files are. All paths are absolute and in the platform's own form. */
export interface Place {
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
  /** The user named this very file, so it is worth a word when it is missing. */
  expected?: boolean
}

export interface NamedEntry {
  name: string
  /** As written: what is no object is reported by discover.ts. */
  entry: ServerEntry | undefined
}

export interface Reader {
  client: string
  format: ConfigFormat
  locations(place: Place): ConfigLocation[]
  /** The servers of one file, in its order; undefined when the file has no place for servers at all. */
  entries(document: ConfigObject, place: Place): NamedEntry[] | undefined
  /** Which placeholders the client expands; all others are plain text. Ours unless given. */
  syntax?: (document: ConfigObject) => PlaceholderSyntax
  /** The file is there for servers only, so it is worth a word when it has no place for them. */
  dedicated?: boolean
}

/** `path.join` in the place's own form. */
export function join(place: Place, ...parts: string[]): string {
  return (place.platform === 'win32' ? path.win32 : path.posix).join(...parts)
}
