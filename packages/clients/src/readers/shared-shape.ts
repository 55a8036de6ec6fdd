// Clients whose tables of servers differ only in their place, placeholders and the names of a few fields.
import { type ConfigObject } from '@sandbridge/core/config/formats'
import { isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'
import type { PlaceholderSyntax, ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, inHome, inProject, join } from '@sandbridge/core/config'
import { inAppData, inFolderOf, inXdgConfig, secondsToMs } from './places.ts'
import { ofAmp, ofZed } from './tool-rules.ts'
import type { ConfigLocation, HostPaths, Reader } from '@sandbridge/core/config'
import type { CLIENTS } from '@sandbridge/core/parts'

type Client = (typeof CLIENTS)[number]

interface Shape extends Pick<Reader, 'locations' | 'closed'> {
  /** JSON with comments where it is missing. */
  format?: Reader['format']
  syntax?: PlaceholderSyntax
  map?: (raw: ConfigObject & ServerEntry) => ServerEntry
  /** What the file says of a server outside of its entry. */
  outside?: (document: ConfigObject, server: string, entry: ServerEntry) => Partial<ServerEntry>
  /** Key of the table of servers; `mcpServers` where it is missing. */
  key?: string
  /** What an entry may have that only its client understands, and what is said of it. */
  unusable?: [pattern: RegExp, why: string]
}

function reader(
  client: string,
  { format = 'jsonc', locations, closed, key, syntax = {}, map, outside, unusable }: Shape,
): Reader {
  const toEntry = (raw: ConfigObject & ServerEntry): ServerEntry => {
    if (unusable?.[0].test(JSON.stringify(raw))) return { unusable: unusable[1] }
    return map ? map(raw) : raw
  }
  const entries: Reader['entries'] = (document) =>
    entriesOf(valueAt(document, key ?? 'mcpServers'), syntax, (raw, name) => {
      const entry = toEntry(raw)
      return outside ? { ...entry, ...outside(document, name, entry) } : entry
    })
  return { client, format, locations, closed, entries }
}

/** If both a URL and a command are set, the URL wins. */
function serverUrl(raw: ConfigObject & ServerEntry): ServerEntry {
  return { ...raw, command: raw.url === undefined ? raw.command : undefined }
}

/**
 * Windows gives an application that it installs as a package a folder of its own in place of %APPDATA%.
 * @param family the package's name with the hash of its publisher, the same on all machines
 */
function ofWindowsPackage(place: HostPaths, family: string, ...parts: string[]): ConfigLocation[] {
  if (place.platform !== 'win32') return []
  const local = place.env['LOCALAPPDATA'] || join(place, place.home, 'AppData', 'Local')
  return [{ path: join(place, local, 'Packages', family, 'LocalCache', 'Roaming', ...parts), scope: 'user' }]
}

/** A URL without a type is an old SSE one: Streamable HTTP has always been named. */
function sseWithoutType(raw: ConfigObject & ServerEntry): unknown {
  return raw['type'] ?? (raw['url'] === undefined ? undefined : 'sse')
}

/** Editors that run extensions for VS Code. */
const EDITORS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf']

/** A file of an extension, in each editor. */
function ofExtension(place: HostPaths, extension: string, file: string): ConfigLocation[] {
  return EDITORS.map((editor) => inAppData(place, editor, 'User', 'globalStorage', extension, 'settings', file))
}

/** The redirect address of Kiro and Amazon Q may consist of only a host and a port. */
function kiroOauth(oauth: unknown): unknown {
  if (!isRecord(oauth)) return oauth
  const { redirectUri } = oauth
  const isShort = typeof redirectUri === 'string' && /^[\w.]+:\d+$/.test(redirectUri)
  return { ...oauth, redirectUri: isShort ? `http://${redirectUri}/oauth/callback` : redirectUri }
}

const SHAPES = {
  'claude-desktop': {
    closed: { home: ['.config/Claude'], project: [] },
    locations: (place) => [
      ...ofWindowsPackage(place, 'Claude_pzs8sxrjxfjjc', 'Claude', 'claude_desktop_config.json'),
      inAppData(place, 'Claude', 'claude_desktop_config.json'),
      inProject(place, 'claude_desktop_config.json'),
    ],
  },
  cursor: {
    closed: { home: ['.cursor', '.config/Cursor'], project: ['.cursor'] },
    locations: (place) => [inHome(place, '.cursor', 'mcp.json'), inProject(place, '.cursor', 'mcp.json')],
    syntax: { env: true, folders: true },
    // The redirect address that Cursor's users register leads to Cursor: that of the bridge must be registered, too.
  },
  windsurf: {
    closed: { home: ['.codeium', '.config/Windsurf'], project: [] },
    locations: (place) => [inHome(place, '.codeium', 'windsurf', 'mcp_config.json')],
    syntax: { env: true, file: true },
    map: serverUrl,
  },
  antigravity: {
    closed: { home: ['.gemini'], project: [] },
    locations: (place) => [
      inHome(place, '.gemini', 'config', 'mcp_config.json'),
      inHome(place, '.gemini', 'antigravity', 'mcp_config.json'),
    ],
    map: serverUrl,
  },
  cline: {
    closed: { home: ['.cline', '.config/VSCodium'], project: [] },
    locations: (place) => {
      const named = place.env['CLINE_MCP_SETTINGS_PATH']
      return [
        ...ofExtension(place, 'saoudrizwan.claude-dev', 'cline_mcp_settings.json'),
        named ? { path: named, scope: 'user' } : inHome(place, '.cline', 'data', 'settings', 'cline_mcp_settings.json'),
      ]
    },
    syntax: { env: true },
    map: (raw) => ({ ...raw, type: sseWithoutType(raw), callTimeoutMs: secondsToMs(raw['timeout']) }),
  },
  roo: {
    closed: { home: ['.roo'], project: ['.roo'] },
    locations: (place) => [
      ...ofExtension(place, 'rooveterinaryinc.roo-cline', 'mcp_settings.json'),
      inProject(place, '.roo', 'mcp.json'),
    ],
    syntax: { env: true, folders: true },
    map: (raw) => ({ ...raw, callTimeoutMs: secondsToMs(raw['timeout']) }),
  },
  'copilot-cli': {
    closed: { home: ['.copilot'], project: ['.github/mcp.json'] },
    locations: (place) => [
      inFolderOf(place, 'COPILOT_HOME', 'mcp-config.json', inHome(place, '.copilot', 'mcp-config.json')),
      inProject(place, '.github', 'mcp.json'),
    ],
    syntax: { braces: true },
  },
  kiro: {
    closed: { home: ['.kiro'], project: ['.kiro'] },
    locations: (place) => [
      inHome(place, '.kiro', 'settings', 'mcp.json'),
      inProject(place, '.kiro', 'settings', 'mcp.json'),
    ],
    syntax: { braces: true },
    map: (raw) => ({ ...raw, oauth: kiroOauth(raw['oauth']) }),
  },
  amp: {
    closed: { home: ['.config/amp'], project: ['.amp'] },
    key: 'amp.mcpServers',
    locations: (place) => [inXdgConfig(place, 'amp', 'settings.json'), inProject(place, '.amp', 'settings.json')],
    syntax: { braces: true },
    outside: ofAmp,
  },
  'lm-studio': {
    closed: { home: ['.lmstudio'], project: [] },
    locations: (place) => [inHome(place, '.lmstudio', 'mcp.json')],
  },
  junie: {
    closed: { home: ['.junie'], project: ['.junie'] },
    locations: (place) => [inHome(place, '.junie', 'mcp', 'mcp.json'), inProject(place, '.junie', 'mcp', 'mcp.json')],
  },
  'amazon-q': {
    closed: { home: ['.aws'], project: ['.amazonq'] },
    locations: (place) => [inHome(place, '.aws', 'amazonq', 'mcp.json'), inProject(place, '.amazonq', 'mcp.json')],
    syntax: { env: true },
    map: (raw) => ({ ...raw, oauth: kiroOauth(raw['oauth']), callTimeoutMs: raw['timeout'] }),
  },
  factory: {
    closed: { home: ['.factory'], project: ['.factory'] },
    locations: (place) => [inHome(place, '.factory', 'mcp.json'), inProject(place, '.factory', 'mcp.json')],
    syntax: { braces: true },
  },
  warp: {
    closed: { home: ['.warp'], project: ['.warp'] },
    locations: (place) => [inHome(place, '.warp', '.mcp.json'), inProject(place, '.warp', '.mcp.json')],
    syntax: { braces: true },
  },
  augment: {
    closed: { home: ['.augment'], project: ['.augment'] },
    locations: (place) => [
      inHome(place, '.augment', 'settings.json'),
      inProject(place, '.augment', 'settings.local.json'),
      inProject(place, '.augment', 'settings.json'),
    ],
    syntax: { braces: true },
  },
  trae: {
    closed: { home: ['.config/Trae', '.trae'], project: ['.trae'] },
    locations: (place) => [inAppData(place, 'Trae', 'User', 'mcp.json'), inProject(place, '.trae', 'mcp.json')],
  },
  codex: {
    format: 'toml',
    closed: { home: ['.codex'], project: ['.codex'] },
    locations: (place) => [
      inFolderOf(place, 'CODEX_HOME', 'config.toml', inHome(place, '.codex', 'config.toml')),
      inProject(place, '.codex', 'config.toml'),
    ],
    key: 'mcp_servers',
    // It expands nothing: variables are named in separate fields.
    map: (raw) => ({
      ...raw,
      startTimeoutMs: secondsToMs(raw['startup_timeout_sec']) ?? raw['startup_timeout_ms'],
      callTimeoutMs: secondsToMs(raw['tool_timeout_sec']),
      oauth: { ...(isRecord(raw['oauth']) && raw['oauth']), scopes: raw['scopes'] },
    }),
  },
  crush: {
    closed: { home: ['.config/crush', '.local/share/crush'], project: ['.crush'] },
    locations: (place) => [
      place.platform === 'win32'
        ? inHome(place, 'AppData', 'Local', 'crush', 'crush.json')
        : inXdgConfig(place, 'crush', 'crush.json'),
      inProject(place, '.crush.json'),
      inProject(place, 'crush.json'),
    ],
    key: 'mcp',
    // Its values are expanded as in a shell; what runs a command there is left to Crush.
    syntax: { braces: true, dollar: true },
    unusable: [/\$\(|`/, 'has the output of a command in it, which only Crush runs'],
  },
  zed: {
    closed: { home: ['.config/zed'], project: ['.zed'] },
    locations: (place) => [
      place.platform === 'win32'
        ? inAppData(place, 'Zed', 'settings.json')
        : inXdgConfig(place, 'zed', 'settings.json'),
      inProject(place, '.zed', 'settings.json'),
    ],
    key: 'context_servers',
    outside: ofZed,
    map: (raw) => {
      const command: unknown = raw.command
      // Its older form.
      if (isRecord(command)) return { ...raw, command: command['path'], args: command['args'], env: command['env'] }
      // Zed itself starts the server of an extension; the file has only its configuration.
      if (command === undefined && raw['url'] === undefined) return { unusable: 'is started by an extension of Zed' }
      return raw
    },
  },
  librechat: {
    format: 'yaml',
    closed: { home: [], project: [] },
    locations: (place) => [inProject(place, 'librechat.yaml')],
    syntax: { braces: true },
    // What stands for the user who is signed in there has no meaning here.
    unusable: [/\{\{\w+\}\}/, 'has a value in it that each user of LibreChat enters there'],
    map: (raw) => ({
      ...raw,
      type: sseWithoutType(raw),
      startTimeoutMs: raw['initTimeout'],
      callTimeoutMs: raw['timeout'],
    }),
  },
} satisfies Partial<Record<Client, Shape>>

export const SHAPED = Object.fromEntries(
  Object.entries(SHAPES).map(([client, shape]) => [client, reader(client, shape)]),
) as Record<keyof typeof SHAPES, Reader>
