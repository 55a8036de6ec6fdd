// The places that are ours to read: files with {"mcpServers": {name: {command, args, env, cwd, description} or {url, headers, …}}}.
import type { ConfigObject } from '../config-document.ts'
import { valueAt } from '../config-document.ts'
import { OWN_SYNTAX } from '../placeholders.ts'
import type { NamedEntry, Reader } from './reader.ts'
import { entriesOf, inHome, inProject } from './reader.ts'

/** `mcpServers` of a document, with the file's own `description` for servers that have none. */
function entries(document: ConfigObject): NamedEntry[] | undefined {
  const description = valueAt(document, 'description')
  return entriesOf(valueAt(document, 'mcpServers'), OWN_SYNTAX, (raw) => ({
    ...raw,
    description: raw['description'] ?? description,
  }))
}

const shared = { format: 'jsonc', entries, dedicated: true } as const

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
  locations: (place) => [{ ...inHome(place, '.config', 'mcp', 'servers'), kind: 'folder' }],
}

/** `./mcp-servers/*.json`. */
export const mcpServers: Reader = {
  ...shared,
  client: 'mcp-servers',
  locations: (place) => [{ ...inProject(place, 'mcp-servers'), kind: 'folder' }],
}
