// Clients whose files have {"mcpServers": …} and differ only in the location, the supported placeholders and the names
// of one or two fields.
import { type ConfigObject, valueAt } from '@sandbridge/core/config/formats'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import type { PlaceholderSyntax, ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, inAppData, inFolderOf, inHome, inProject, inXdgConfig, join } from '@sandbridge/core/config'
import { secondsToMs } from '@sandbridge/core/config'
import type { ConfigLocation, HostPaths, Reader } from '@sandbridge/core/config'

interface Shape extends Pick<Reader, 'client' | 'locations' | 'closed'> {
  syntax?: PlaceholderSyntax
  map?: (raw: ConfigObject & ServerEntry) => ServerEntry
  /** Key of the table of servers. */
  key?: string
}

function reader({ client, locations, closed, syntax = {}, map, key = 'mcpServers' }: Shape): Reader {
  return {
    client,
    format: 'jsonc',
    locations,
    closed,
    entries: (document) => entriesOf(valueAt(document, key), syntax, map),
  }
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

export const claudeDesktop = reader({
  client: 'claude-desktop',
  closed: { home: ['.config/Claude'], project: [] },
  locations: (place) => [
    ...ofWindowsPackage(place, 'Claude_pzs8sxrjxfjjc', 'Claude', 'claude_desktop_config.json'),
    inAppData(place, 'Claude', 'claude_desktop_config.json'),
    inProject(place, 'claude_desktop_config.json'),
  ],
})

export const cursor = reader({
  client: 'cursor',
  closed: { home: ['.cursor', '.config/Cursor'], project: ['.cursor'] },
  locations: (place) => [inHome(place, '.cursor', 'mcp.json'), inProject(place, '.cursor', 'mcp.json')],
  syntax: { env: true, folders: true },
  // The redirect address that Cursor's users register leads to Cursor, so the bridge's must be registered in addition.
})

export const windsurf = reader({
  client: 'windsurf',
  closed: { home: ['.codeium', '.config/Windsurf'], project: [] },
  locations: (place) => [inHome(place, '.codeium', 'windsurf', 'mcp_config.json')],
  syntax: { env: true, file: true },
  map: serverUrl,
})

export const antigravity = reader({
  client: 'antigravity',
  closed: { home: ['.gemini'], project: [] },
  locations: (place) => [
    inHome(place, '.gemini', 'config', 'mcp_config.json'),
    inHome(place, '.gemini', 'antigravity', 'mcp_config.json'),
  ],
  map: serverUrl,
})

/** Editors that run extensions for VS Code. */
const EDITORS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf']

/** A file of an extension, in each editor. */
function ofExtension(place: HostPaths, extension: string, file: string): ConfigLocation[] {
  return EDITORS.map((editor) => inAppData(place, editor, 'User', 'globalStorage', extension, 'settings', file))
}

export const cline = reader({
  client: 'cline',
  closed: { home: ['.cline', '.config/VSCodium'], project: [] },
  locations: (place) => {
    const named = place.env['CLINE_MCP_SETTINGS_PATH']
    return [
      ...ofExtension(place, 'saoudrizwan.claude-dev', 'cline_mcp_settings.json'),
      named ? { path: named, scope: 'user' } : inHome(place, '.cline', 'data', 'settings', 'cline_mcp_settings.json'),
    ]
  },
  syntax: { env: true },
  // A URL without a type is an old SSE one: Streamable HTTP has always been named.
  map: (raw) => ({
    ...raw,
    type: raw['type'] ?? (raw['url'] === undefined ? undefined : 'sse'),
    callTimeoutMs: secondsToMs(raw['timeout']),
  }),
})

export const roo = reader({
  client: 'roo',
  closed: { home: ['.roo'], project: ['.roo'] },
  locations: (place) => [
    ...ofExtension(place, 'rooveterinaryinc.roo-cline', 'mcp_settings.json'),
    inProject(place, '.roo', 'mcp.json'),
  ],
  syntax: { env: true, folders: true },
  map: (raw) => ({ ...raw, callTimeoutMs: secondsToMs(raw['timeout']) }),
})

export const copilotCli = reader({
  client: 'copilot-cli',
  closed: { home: ['.copilot'], project: ['.github/mcp.json'] },
  locations: (place) => [
    inFolderOf(place, 'COPILOT_HOME', 'mcp-config.json', inHome(place, '.copilot', 'mcp-config.json')),
    inProject(place, '.github', 'mcp.json'),
  ],
  syntax: { braces: true },
})

export const kiro = reader({
  client: 'kiro',
  closed: { home: ['.kiro'], project: ['.kiro'] },
  locations: (place) => [
    inHome(place, '.kiro', 'settings', 'mcp.json'),
    inProject(place, '.kiro', 'settings', 'mcp.json'),
  ],
  syntax: { braces: true },
  map: (raw) => ({ ...raw, oauth: kiroOauth(raw['oauth']) }),
})

/** Kiro's redirect address may consist of only a host and a port. */
function kiroOauth(oauth: unknown): unknown {
  if (!isRecord(oauth)) return oauth
  const { redirectUri } = oauth
  const isShort = typeof redirectUri === 'string' && /^[\w.]+:\d+$/.test(redirectUri)
  return {
    ...oauth,
    redirectUri: isShort ? `http://${redirectUri}/oauth/callback` : redirectUri,
  }
}

export const amp = reader({
  client: 'amp',
  closed: { home: ['.config/amp'], project: ['.amp'] },
  key: 'amp.mcpServers',
  locations: (place) => [inXdgConfig(place, 'amp', 'settings.json'), inProject(place, '.amp', 'settings.json')],
  syntax: { braces: true },
})

export const lmStudio = reader({
  client: 'lm-studio',
  closed: { home: ['.lmstudio'], project: [] },
  locations: (place) => [inHome(place, '.lmstudio', 'mcp.json')],
})

export const junie = reader({
  client: 'junie',
  closed: { home: ['.junie'], project: ['.junie'] },
  locations: (place) => [inHome(place, '.junie', 'mcp', 'mcp.json'), inProject(place, '.junie', 'mcp', 'mcp.json')],
})

export const amazonQ = reader({
  client: 'amazon-q',
  closed: { home: ['.aws'], project: ['.amazonq'] },
  locations: (place) => [inHome(place, '.aws', 'amazonq', 'mcp.json'), inProject(place, '.amazonq', 'mcp.json')],
  syntax: { env: true },
  map: (raw) => ({ ...raw, callTimeoutMs: raw['timeout'] }),
})

export const factory = reader({
  client: 'factory',
  closed: { home: ['.factory'], project: ['.factory'] },
  locations: (place) => [inHome(place, '.factory', 'mcp.json'), inProject(place, '.factory', 'mcp.json')],
  syntax: { braces: true },
})

export const warp = reader({
  client: 'warp',
  closed: { home: ['.warp'], project: ['.warp'] },
  locations: (place) => [inHome(place, '.warp', '.mcp.json'), inProject(place, '.warp', '.mcp.json')],
  syntax: { braces: true },
})

export const augment = reader({
  client: 'augment',
  closed: { home: ['.augment'], project: ['.augment'] },
  locations: (place) => [
    inHome(place, '.augment', 'settings.json'),
    inProject(place, '.augment', 'settings.local.json'),
    inProject(place, '.augment', 'settings.json'),
  ],
  syntax: { braces: true },
})

export const trae = reader({
  client: 'trae',
  closed: { home: ['.config/Trae', '.trae'], project: ['.trae'] },
  locations: (place) => [inAppData(place, 'Trae', 'User', 'mcp.json'), inProject(place, '.trae', 'mcp.json')],
})
