// The places that are ours to read: files with {"mcpServers": {name: {command, args, env, cwd, description} or {url, headers, …}}}.
import type { ConfigFormat, ConfigObject } from '../config-document.ts'
import { valueAt } from '../config-document.ts'
import { PERMISSIONS_FILE } from '../permission-files.ts'
import { OWN_SYNTAX } from '../placeholders.ts'
import type { NamedEntry, Reader } from './reader.ts'
import { entriesOf, inHome, inProject } from './reader.ts'

/** `mcpServers` of a document, with the file's own `description` for servers that have none. */
function entries(document: ConfigObject): NamedEntry[] | undefined {
  // A TOML file has its tables in the spelling of TOML.
  const table = valueAt(document, 'mcpServers') ?? valueAt(document, 'mcp_servers')
  return entriesOf(table, OWN_SYNTAX, undefined, valueAt(document, 'description'))
}

const shared = { format: 'jsonc', entries, dedicated: true } as const

/** The files that MCP_SERVERS_CONFIG names: JSON, or by their suffix TOML or YAML. */
export const serversConfig: Reader = {
  ...shared,
  client: 'servers-config',
  locations: (place) =>
    place.serversConfig.map((path) => {
      const format = formatOf(path)
      return { path, scope: 'user', expected: true, ...(format && { format }) }
    }),
}

function formatOf(file: string): ConfigFormat | undefined {
  if (/\.toml$/i.test(file)) return 'toml'
  return /\.ya?ml$/i.test(file) ? 'yaml' : undefined
}

/** `~/MCPs/*.json`, or the folder that MCP_BRIDGE_STATE_DIR names. */
export const mcps: Reader = {
  ...shared,
  client: 'mcps',
  locations: (place) => [{ path: place.stateDir, scope: 'user', kind: 'folder', except: PERMISSIONS_FILE }],
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
