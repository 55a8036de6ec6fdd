// Gemini CLI and Qwen Code, which began as a copy of it: `mcpServers` of settings.json, where `url` means SSE and
// `httpUrl` Streamable HTTP, and the lists `mcp.allowed` and `mcp.excluded`.
import { valueAt } from '@sandbridge/core/util/json/json.ts'
import { type ConfigObject } from '@sandbridge/core/config/formats'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, type HostPaths, inHome, inProject, join, type Reader } from '@sandbridge/core/config'
import { withCallback } from './places.ts'
import { namesOff, restricted } from './tool-rules.ts'

export const geminiCli = reader('gemini-cli', '.gemini', 'GeminiCli', 'GEMINI_CLI_SYSTEM_SETTINGS_PATH')
export const qwenCode = reader('qwen-code', '.qwen', 'QwenCode', 'QWEN_CODE_SYSTEM_SETTINGS_PATH')

/**
 * @param folder in the home folder and in a project
 * @param application its folder for all users of macOS
 * @param variable names the file for all users
 */
function reader(client: string, folder: string, application: string, variable: string): Reader {
  return {
    client,
    format: 'jsonc',
    closed: { home: [folder], project: [folder] },
    locations: (place) => [
      inHome(place, folder, 'settings.json'),
      { path: systemSettings(place, client, application, variable), scope: 'user' },
      inProject(place, folder, 'settings.json'),
    ],
    entries(document) {
      // Its first versions had them at the top.
      const allowed = valueAt(document, 'mcp', 'allowed') ?? document['allowMCPServers']
      const excluded = valueAt(document, 'mcp', 'excluded') ?? document['excludeMCPServers']
      const isOff = valueAt(document, 'admin', 'mcp', 'enabled') === false
      const off = [
        valueAt(document, 'tools', 'exclude'),
        document['excludeTools'],
        valueAt(document, 'permissions', 'deny'),
      ]
      return entriesOf(
        valueAt(document, 'mcpServers'),
        { braces: true, dollar: 'kept', percent: true },
        (raw, name) => ({
          ...toEntry(raw),
          ...restricted(
            raw,
            [...['mcp__', 'mcp_', ''].flatMap((before) => [`${before}${name}__`, `${before}${name}_`]), ''],
            namesOff(...off),
          ),
          disabled:
            isOff ||
            (Array.isArray(allowed) && !allowed.includes(name)) ||
            (Array.isArray(excluded) && excluded.includes(name)) ||
            (raw['disabled'] ?? false),
        }),
      )
    },
  }
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

function systemSettings(place: HostPaths, client: string, application: string, variable: string): string {
  const named = place.env[variable]
  if (named) return named
  if (place.platform === 'darwin') return `/Library/Application Support/${application}/settings.json`
  return join(place, place.platform === 'win32' ? `C:\\ProgramData\\${client}` : `/etc/${client}`, 'settings.json')
}
