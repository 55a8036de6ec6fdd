// Codex: [mcp_servers.name] tables of config.toml. Codex expands nothing; variables are named in separate fields.
import type { ConfigObject } from '@sandbridge/core/config/formats/config-document.ts'
import { valueAt } from '@sandbridge/core/config/formats/config-document.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries/client-fields.ts'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
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
  return {
    ...raw,
    startTimeoutMs: secondsToMs(raw['startup_timeout_sec']) ?? raw['startup_timeout_ms'],
    callTimeoutMs: secondsToMs(raw['tool_timeout_sec']),
    oauth: { ...(isRecord(raw['oauth']) && raw['oauth']), scopes: raw['scopes'] },
  }
}
