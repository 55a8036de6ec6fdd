// Codex: [mcp_servers.name] tables of config.toml. Codex expands nothing; variables are named in separate fields.
import type { ConfigObject } from '@sandbridge/core/config/formats/config-document.ts'
import { valueAt } from '@sandbridge/core/config/formats/config-document.ts'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries/server-entry.ts'
import type { Reader } from '@sandbridge/core/config/readers/reader.ts'
import { entriesOf, inFolderOf, inHome, inProject, secondsToMs } from '@sandbridge/core/config/readers/reader.ts'

export const codex: Reader = {
  client: 'codex',
  format: 'toml',
  closed: { home: ['.codex'], project: ['.codex'] },
  locations: (place) => [
    inFolderOf(place, 'CODEX_HOME', 'config.toml', inHome(place, '.codex', 'config.toml')),
    inProject(place, '.codex', 'config.toml'),
  ],
  entries: (document) => entriesOf(valueAt(document, 'mcp_servers'), {}, toEntry),
}

function toEntry(raw: ConfigObject): ServerEntry {
  const token = raw['bearer_token_env_var']
  return {
    ...raw,
    inheritEnv: variableNames(raw['env_vars']),
    headers: {
      ...(typeof token === 'string' ? { Authorization: `Bearer \${env:${token}}` } : {}),
      ...headersFromEnv(raw['env_http_headers']),
      ...(isRecord(raw['http_headers']) ? raw['http_headers'] : {}),
    },
    includeTools: raw['enabled_tools'],
    excludeTools: raw['disabled_tools'],
    startTimeoutMs: secondsToMs(raw['startup_timeout_sec']) ?? raw['startup_timeout_ms'],
    callTimeoutMs: secondsToMs(raw['tool_timeout_sec']),
    oauth: {
      clientId: valueAt(raw['oauth'], 'client_id'),
      redirectUri: valueAt(raw['oauth'], 'callback_url'),
      scopes: raw['scopes'],
    },
  }
}

/** `env_vars` holds names, or tables with a `name`. */
function variableNames(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.map((item: unknown) => valueAt(item, 'name') ?? item)
}

function headersFromEnv(value: unknown): ConfigObject {
  if (!isRecord(value)) return {}
  return Object.fromEntries(Object.entries(value).map(([header, name]) => [header, `\${env:${String(name)}}`]))
}
