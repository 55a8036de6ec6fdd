// Goose: `extensions` of config.yaml. Extensions that are built into Goose are not MCP servers that another program
// could start.
import type { ConfigObject } from '@sandbridge/core/config/formats/config-document.ts'
import { valueAt } from '@sandbridge/core/config/formats/config-document.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries/server-entry.ts'
import type { Reader } from '@sandbridge/core/config/readers/reader.ts'
import { entriesOf, inAppData, inXdgConfig, secondsToMs } from '@sandbridge/core/config/readers/reader.ts'

const STARTABLE = new Set(['stdio', 'sse', 'streamable_http'])

export const goose: Reader = {
  client: 'goose',
  format: 'yaml',
  closed: { home: ['.config/goose'], project: [] },
  locations: (place) => [
    place.platform === 'win32'
      ? inAppData(place, 'Block', 'goose', 'config', 'config.yaml')
      : inXdgConfig(place, 'goose', 'config.yaml'),
  ],
  entries: (document) => entriesOf(valueAt(document, 'extensions'), { braces: true }, toEntry),
}

function toEntry(raw: ConfigObject): ServerEntry {
  if (typeof raw['type'] === 'string' && !STARTABLE.has(raw['type'])) return { unusable: 'is built into Goose' }
  return {
    ...raw,
    command: raw['cmd'],
    env: raw['envs'],
    // Goose looks these up first in its keyring, which the bridge cannot read, then in the environment.
    inheritEnv: raw['env_keys'],
    url: raw['uri'],
    includeTools:
      Array.isArray(raw['available_tools']) && raw['available_tools'].length > 0 ? raw['available_tools'] : null,
    callTimeoutMs: secondsToMs(raw['timeout']),
  }
}
