// Clients whose files have {"mcpServers": …} and differ only in the location, the supported placeholders and the names
// of one or two fields.
import type { ConfigObject } from '../formats/config-document.ts'
import { valueAt } from '../formats/config-document.ts'
import { isRecord } from '../../util/json/json.ts'
import type { PlaceholderSyntax } from '../entries/placeholders.ts'
import type { ServerEntry } from '../entries/server-entry.ts'
import type { HostPaths, ConfigLocation, Reader } from './reader.ts'
import { entriesOf, inAppData, inFolderOf, inHome, inProject, inXdgConfig, secondsToMs } from './reader.ts'

interface Shape {
  client: string
  locations: (place: HostPaths) => ConfigLocation[]
  syntax?: PlaceholderSyntax
  map?: (raw: ConfigObject) => ServerEntry
  /** Key of the table of servers. */
  key?: string
}

function reader({ client, locations, syntax = {}, map, key = 'mcpServers' }: Shape): Reader {
  return {
    client,
    format: 'jsonc',
    locations,
    entries: (document) => entriesOf(valueAt(document, key), syntax, map),
  }
}

/** `serverUrl` instead of `url`, and `disabledTools`. */
function serverUrl(raw: ConfigObject): ServerEntry {
  const url = raw['serverUrl'] ?? raw['url']
  // If both are set, the URL wins.
  return { ...raw, url, command: url === undefined ? raw['command'] : undefined, excludeTools: raw['disabledTools'] }
}

export const claudeDesktop = reader({
  client: 'claude-desktop',
  locations: (place) => [
    inAppData(place, 'Claude', 'claude_desktop_config.json'),
    inProject(place, 'claude_desktop_config.json'),
  ],
})

export const cursor = reader({
  client: 'cursor',
  locations: (place) => [inHome(place, '.cursor', 'mcp.json'), inProject(place, '.cursor', 'mcp.json')],
  syntax: { env: true, folders: true },
  // The redirect address that Cursor's users register leads to Cursor, so the bridge's must be registered in addition.
  map: (raw) => ({
    ...raw,
    oauth: {
      clientId: valueAt(raw['auth'], 'CLIENT_ID'),
      clientSecret: valueAt(raw['auth'], 'CLIENT_SECRET'),
      scopes: valueAt(raw['auth'], 'scopes'),
    },
  }),
})

export const windsurf = reader({
  client: 'windsurf',
  locations: (place) => [inHome(place, '.codeium', 'windsurf', 'mcp_config.json')],
  syntax: { env: true, file: true },
  map: serverUrl,
})

export const antigravity = reader({
  client: 'antigravity',
  locations: (place) => [
    inHome(place, '.gemini', 'config', 'mcp_config.json'),
    inHome(place, '.gemini', 'antigravity', 'mcp_config.json'),
  ],
  map: serverUrl,
})

const CLINE_HOSTS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf']
const CLINE_SETTINGS = ['globalStorage', 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json']

export const cline = reader({
  client: 'cline',
  locations: (place) => {
    const named = place.env['CLINE_MCP_SETTINGS_PATH']
    return [
      ...CLINE_HOSTS.map((host) => inAppData(place, host, 'User', ...CLINE_SETTINGS)),
      named ? { path: named, scope: 'user' } : inHome(place, '.cline', 'data', 'settings', 'cline_mcp_settings.json'),
    ]
  },
  syntax: { env: true },
  // A URL without a type is an old SSE one: Streamable HTTP has always been named.
  map: (raw) => ({
    ...raw,
    type: raw['type'] ?? raw['transportType'] ?? (raw['url'] === undefined ? undefined : 'sse'),
    callTimeoutMs: secondsToMs(raw['timeout']),
  }),
})

export const copilotCli = reader({
  client: 'copilot-cli',
  locations: (place) => [
    inFolderOf(place, 'COPILOT_HOME', 'mcp-config.json', inHome(place, '.copilot', 'mcp-config.json')),
    inProject(place, '.github', 'mcp.json'),
  ],
  syntax: { braces: true },
  map: (raw) => ({ ...raw, includeTools: raw['tools'] }),
})

export const kiro = reader({
  client: 'kiro',
  locations: (place) => [
    inHome(place, '.kiro', 'settings', 'mcp.json'),
    inProject(place, '.kiro', 'settings', 'mcp.json'),
  ],
  syntax: { braces: true },
  map: (raw) => ({ ...raw, excludeTools: raw['disabledTools'], oauth: kiroOauth(raw['oauth']) }),
})

/** Kiro's redirect address may consist of only a host and a port. */
function kiroOauth(oauth: unknown): unknown {
  if (!isRecord(oauth)) return oauth
  const { redirectUri } = oauth
  const isShort = typeof redirectUri === 'string' && /^[\w.]+:\d+$/.test(redirectUri)
  return {
    ...oauth,
    scopes: oauth['oauthScopes'],
    redirectUri: isShort ? `http://${redirectUri}/oauth/callback` : redirectUri,
  }
}

export const amp = reader({
  client: 'amp',
  key: 'amp.mcpServers',
  locations: (place) => [inXdgConfig(place, 'amp', 'settings.json'), inProject(place, '.amp', 'settings.json')],
  syntax: { braces: true },
})

export const lmStudio = reader({
  client: 'lm-studio',
  locations: (place) => [inHome(place, '.lmstudio', 'mcp.json')],
})
