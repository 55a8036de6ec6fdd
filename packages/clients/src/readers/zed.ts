// Zed: `context_servers` of settings.json, in its flat form and in the older one where `command` is a table.
import { type ConfigObject, valueAt } from '@sandbridge/core/config/formats'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, inAppData, inProject, inXdgConfig, type Reader } from '@sandbridge/core/config'

export const zed: Reader = {
  client: 'zed',
  format: 'jsonc',
  closed: { home: ['.config/zed'], project: ['.zed'] },
  locations: (place) => [
    place.platform === 'win32' ? inAppData(place, 'Zed', 'settings.json') : inXdgConfig(place, 'zed', 'settings.json'),
    inProject(place, '.zed', 'settings.json'),
  ],
  entries: (document) => entriesOf(valueAt(document, 'context_servers'), {}, toEntry),
}

function toEntry(raw: ConfigObject): ServerEntry {
  const { command } = raw
  if (isRecord(command)) return { ...raw, command: command['path'], args: command['args'], env: command['env'] }
  // Zed itself starts the server of an extension; the file has only its configuration.
  if (command === undefined && raw['url'] === undefined) return { unusable: 'is started by an extension of Zed' }
  return raw
}
