// Codex: [mcp_servers.name] tables of config.toml. Codex expands nothing; variables are named in separate fields.
import { type ConfigObject, valueAt } from '@sandbridge/core/config/formats'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { entriesOf, inFolderOf, inHome, inProject, type Reader, secondsToMs } from '@sandbridge/core/config'

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
  return {
    ...raw,
    startTimeoutMs: secondsToMs(raw['startup_timeout_sec']) ?? raw['startup_timeout_ms'],
    callTimeoutMs: secondsToMs(raw['tool_timeout_sec']),
    oauth: { ...(isRecord(raw['oauth']) && raw['oauth']), scopes: raw['scopes'] },
  }
}
