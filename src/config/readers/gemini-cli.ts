// Gemini CLI: `mcpServers` of settings.json, where `url` means SSE and `httpUrl` Streamable HTTP, and the lists
// `mcp.allowed` and `mcp.excluded`.
import type { ConfigObject } from '../formats/config-document.ts'
import { valueAt } from '../formats/config-document.ts'
import type { ServerEntry } from '../entries/server-entry.ts'
import type { ConfigLocation, HostPaths, Reader } from './reader.ts'
import { entriesOf, inHome, inProject, join, withCallback } from './reader.ts'

export const geminiCli: Reader = {
  client: 'gemini-cli',
  format: 'jsonc',
  locations: (place) => [
    inHome(place, '.gemini', 'settings.json'),
    systemSettings(place),
    inProject(place, '.gemini', 'settings.json'),
  ],
  entries(document) {
    const allowed = valueAt(document, 'mcp', 'allowed')
    const excluded = valueAt(document, 'mcp', 'excluded')
    return entriesOf(valueAt(document, 'mcpServers'), { braces: true, dollar: true }, (raw, name) => ({
      ...toEntry(raw),
      disabled:
        raw['disabled'] === true ||
        (Array.isArray(allowed) && !allowed.includes(name)) ||
        (Array.isArray(excluded) && excluded.includes(name)),
    }))
  },
}

function toEntry(raw: ConfigObject): ServerEntry {
  const { httpUrl, url } = raw
  const remote = httpUrl ?? url
  return {
    ...raw,
    type: raw['type'] ?? (httpUrl !== undefined ? 'http' : url !== undefined ? 'sse' : undefined),
    url: remote,
    callTimeoutMs: raw['timeout'],
    oauth: withCallback(raw['oauth'], () => 'http://localhost:7777/oauth/callback'),
  }
}

function systemSettings(place: HostPaths): ConfigLocation {
  const named = place.env['GEMINI_CLI_SYSTEM_SETTINGS_PATH']
  if (named) return { path: named, scope: 'user' }
  if (place.platform === 'darwin') {
    return { path: '/Library/Application Support/GeminiCli/settings.json', scope: 'user' }
  }
  const folder = place.platform === 'win32' ? 'C:\\ProgramData\\gemini-cli' : '/etc/gemini-cli'
  return { path: join(place, folder, 'settings.json'), scope: 'user' }
}
