// Zed: `context_servers` of settings.json, in its flat shape and in the older one where `command` is a table of its own.
import type { ConfigObject } from '../config-document.ts'
import { valueAt } from '../config-document.ts'
import { isRecord } from '../../text/json.ts'
import type { ServerEntry } from '../server-entry.ts'
import type { Reader } from './reader.ts'
import { entriesOf, inAppData, inProject, inXdgConfig } from './reader.ts'

export const zed: Reader = {
  client: 'zed',
  format: 'jsonc',
  locations: (place) => [
    place.platform === 'win32' ? inAppData(place, 'Zed', 'settings.json') : inXdgConfig(place, 'zed', 'settings.json'),
    inProject(place, '.zed', 'settings.json'),
  ],
  entries: (document) => entriesOf(valueAt(document, 'context_servers'), {}, toEntry),
}

function toEntry(raw: ConfigObject): ServerEntry {
  const { command } = raw
  if (isRecord(command)) return { ...raw, command: command['path'], args: command['args'], env: command['env'] }
  // A server of an extension is started by Zed itself; there is only its configuration here.
  if (command === undefined && raw['url'] === undefined) return { unusable: 'is started by an extension of Zed' }
  return raw
}
