// Crush: `mcp` of crush.json. Its values are expanded as in a shell; what runs a command there is left to Crush.
import { type ConfigObject, valueAt } from '@sandbridge/core/config/formats'
import type { ServerEntry } from '@sandbridge/core/config/entries'
import { entriesOf, inHome, inProject, inXdgConfig, type Reader } from '@sandbridge/core/config'

export const crush: Reader = {
  client: 'crush',
  format: 'jsonc',
  closed: { home: ['.config/crush', '.local/share/crush'], project: ['.crush'] },
  locations: (place) => [
    place.platform === 'win32'
      ? inHome(place, 'AppData', 'Local', 'crush', 'crush.json')
      : inXdgConfig(place, 'crush', 'crush.json'),
    inProject(place, '.crush.json'),
    inProject(place, 'crush.json'),
  ],
  entries: (document) => entriesOf(valueAt(document, 'mcp'), { braces: true, dollar: true }, toEntry),
}

function toEntry(raw: ConfigObject): ServerEntry {
  if (/\$\(|`/.test(JSON.stringify(raw)))
    return { unusable: 'has the output of a command in it, which only Crush runs' }
  return raw
}
