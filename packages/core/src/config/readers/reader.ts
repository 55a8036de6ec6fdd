// A reader: where one client stores its MCP servers, and how its file becomes entries. discover.ts reads the files.
import type { Environment } from '../settings/client-context.ts'
import path from 'node:path'
import type { ConfigFormat, ConfigObject } from '../formats/config-document.ts'
import { isRecord } from '../../util/json/json.ts'
import type { PlaceholderSyntax } from '../entries/placeholders.ts'
import { translate } from '../entries/placeholders.ts'
import { withOwnNames } from '../entries/client-fields.ts'
import type { ServerEntry } from '../entries/entry-schema.ts'

/** The facts about a machine that decide where files are. All paths are absolute and in the platform's own form. */
export interface HostPaths {
  platform: NodeJS.Platform
  home: string
  cwd: string
  env: Environment
  stateDir: string
  serversConfig: readonly string[]
}

/** A file, or a folder whose `*.json` (or `names`) are read. A project file is of the current directory's project. */
export interface ConfigLocation {
  path: string
  scope: 'user' | 'project'
  kind?: 'folder'
  /** Names of files of the folder that hold servers. */
  names?: RegExp
  /** Names of files of the folder that hold no servers. */
  except?: RegExp
  /** Set if it differs from the reader's format. */
  format?: ConfigFormat
  /** The user named this file, so a missing file is reported. */
  expected?: boolean
}

export interface NamedEntry {
  name: string
  /** With placeholders in the bridge's syntax; undefined for a value that is not an object. */
  entry: ServerEntry | undefined
}

export interface Reader {
  client: string
  format: ConfigFormat
  locations(place: HostPaths): ConfigLocation[]
  /** Closed to jailed servers: places with secrets of the client or its servers, and places that the client obeys. */
  closed: { home: readonly string[]; project: readonly string[] }
  /**
   * The servers of one file, in its order, under our names of fields; undefined when it has no table of servers.
   * @param file its path, where relative paths in it matter
   * @throws TableRefused when something else is in its place
   */
  entries(document: ConfigObject, place: HostPaths, file?: string): NamedEntry[] | undefined
  /** The file exists only for servers, so a missing table is reported. */
  dedicated?: boolean
}

/** A file has something else where its table of servers belongs. The message quotes no value of the file. */
export class TableRefused extends Error {
  override readonly name = 'TableRefused'
}

/** More are not read: they would be too many to choose from. */
const MAX_SERVERS = 2_000

export const TABLE_EXAMPLE = '{"NAME": {"command": "…"}}'

/**
 * The entries of a table of servers: placeholders are translated from `syntax`, fields get our names, and `map` changes
 * what is special in a client.
 * @param described the file's own description, for servers without one
 * @throws TableRefused
 */
export function entriesOf(
  table: unknown,
  syntax: PlaceholderSyntax,
  map?: (raw: ConfigObject & ServerEntry, name: string) => ServerEntry,
  described?: unknown,
): NamedEntry[] | undefined {
  // A key without a value is what YAML has for an empty table.
  if (table === undefined || table === null) return undefined
  if (!isRecord(table)) {
    const found = Array.isArray(table) ? 'a list' : 'a single value'
    throw new TableRefused(`has ${found} in place of its servers; expected an object such as ${TABLE_EXAMPLE}`)
  }
  const rows = Object.entries(table)
  if (rows.length > MAX_SERVERS) throw new TableRefused(`has ${rows.length} servers; the limit is ${MAX_SERVERS}`)
  return rows.map(([name, raw]) => {
    if (!isRecord(raw)) return { name, entry: undefined }
    // A description is prose, and a helper's command is for a shell: neither has placeholders.
    const { description, headersHelper, ...fields } = raw
    const entry = withOwnNames({
      ...translate(fields, syntax),
      description: description ?? described,
      ...(headersHelper !== undefined && { headersHelper }),
    })
    return { name, entry: map ? map(entry, name) : entry }
  })
}

/** `path.join` in the platform's form. */
export function join(place: HostPaths, ...parts: string[]): string {
  return (place.platform === 'win32' ? path.win32 : path.posix).join(...parts)
}

export function inHome(place: HostPaths, ...parts: string[]): ConfigLocation {
  return { path: join(place, place.home, ...parts), scope: 'user' }
}

export function inProject(place: HostPaths, ...parts: string[]): ConfigLocation {
  return { path: join(place, place.cwd, ...parts), scope: 'project' }
}
