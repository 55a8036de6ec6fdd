// The bridge's own config files: {"mcpServers": {name: {command, args, env, cwd, description} or {url, headers, …}}}.
import type { ConfigFormat, ConfigObject } from '../formats/config-document.ts'
import { valueAt } from '../../util/json/json.ts'
import { OWN_SYNTAX } from '../entries/placeholders.ts'
import type { NamedEntry, Reader } from './reader.ts'
import { entriesOf, inHome, inProject } from './reader.ts'

/** `mcpServers` of a document, with the file's `description` for servers without one. */
function entries(document: ConfigObject): NamedEntry[] | undefined {
  // TOML files may use TOML's spelling.
  const table = valueAt(document, 'mcpServers') ?? valueAt(document, 'mcp_servers')
  return entriesOf(table, OWN_SYNTAX, undefined, valueAt(document, 'description'))
}

const shared = { format: 'jsonc', entries, dedicated: true, closed: { home: [], project: [] } } as const

/** The files in MCP_SERVERS_CONFIG: JSON, or TOML or YAML by their suffix. */
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

/** The file in the state folder with the servers that were added from a registry. */
export const ADDED_SERVERS_FILE = 'added-servers.json'

export const PERMISSIONS_FILE = 'permissions.json'
export const SETTINGS_FILE = 'settings.json'
/** These and a profile's rules, which are not read as files of servers. */
const NOT_SERVERS = /^(permissions(-.+)?|settings)\.json$/

/** `~/MCPs/*.json`, or the folder in MCP_BRIDGE_STATE_DIR. */
export const mcps: Reader = {
  ...shared,
  client: 'mcps',
  locations: (place) => [{ path: place.stateDir, scope: 'user', kind: 'folder', except: NOT_SERVERS }],
}

/** `~/.config/mcp/servers/*.json`. */
export const configMcp: Reader = {
  ...shared,
  client: 'config-mcp',
  closed: { home: ['.config/mcp'], project: [] },
  locations: (place) => [{ ...inHome(place, '.config', 'mcp', 'servers'), kind: 'folder' }],
}

/** `./mcp-servers/*.json`. */
export const mcpServers: Reader = {
  ...shared,
  client: 'mcp-servers',
  locations: (place) => [{ ...inProject(place, 'mcp-servers'), kind: 'folder' }],
}

/** Of files that exist for this bridge and similar programs. The other sources belong to other MCP clients. */
export const OWN_READERS: readonly Reader[] = [mcps, serversConfig, configMcp, mcpServers]

export const OWN_SOURCES: ReadonlySet<string> = new Set(OWN_READERS.map(({ client }) => client))
