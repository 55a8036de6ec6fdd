// The shape most clients share, {"mcpServers": {name: {command, args, env, …} or {url, headers, …}}}, and the places that are ours to read it from.
import { isObject, valueAt } from '../config-document.ts'
import type { ConfigObject } from '../config-document.ts'
import type { ServerEntry } from '../server-entry.ts'
import type { NamedEntry, Reader } from './reader.ts'
import { join } from './reader.ts'

/** The entries of a table of servers, each mapped by `map`; undefined when `table` is none. */
export function entriesOf(
  table: unknown,
  map: (raw: ConfigObject) => ServerEntry = (raw) => raw,
): NamedEntry[] | undefined {
  if (!isObject(table)) return undefined
  return Object.entries(table).map(([name, raw]) => ({ name, entry: isObject(raw) ? map(raw) : undefined }))
}

/** `mcpServers` of a document, with the file's own `description` for servers that have none. */
export function ownEntries(document: ConfigObject): NamedEntry[] | undefined {
  const description = valueAt(document, 'description')
  return entriesOf(valueAt(document, 'mcpServers'), (raw) => ({
    ...raw,
    description: raw['description'] ?? description,
    includeTools: raw['includeTools'],
    excludeTools: raw['excludeTools'],
  }))
}

const shared = { format: 'jsonc', entries: ownEntries, dedicated: true } as const

/** The files that MCP_SERVERS_CONFIG names. */
export const serversConfig: Reader = {
  ...shared,
  client: 'servers-config',
  locations: (place) => place.serversConfig.map((path) => ({ path, scope: 'user', expected: true })),
}

/** `~/MCPs/*.json`, or the folder that MCP_BRIDGE_STATE_DIR names. */
export const mcps: Reader = {
  ...shared,
  client: 'mcps',
  locations: (place) => [{ path: place.stateDir, scope: 'user', kind: 'folder' }],
}

/** `~/.config/mcp/servers/*.json`. */
export const configMcp: Reader = {
  ...shared,
  client: 'config-mcp',
  locations: (place) => [{ path: join(place, place.home, '.config', 'mcp', 'servers'), scope: 'user', kind: 'folder' }],
}

/** `./mcp-servers/*.json`. */
export const projectServers: Reader = {
  ...shared,
  client: 'mcp-servers',
  locations: (place) => [{ path: join(place, place.cwd, 'mcp-servers'), scope: 'project', kind: 'folder' }],
}
