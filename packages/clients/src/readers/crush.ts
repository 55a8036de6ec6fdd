// Crush: `mcp` of crush.json. Its values are expanded as in a shell; what runs a command there is left to Crush.
import type { ConfigObject } from '@sandbridge/core/config/formats/config-document.ts'
import { valueAt } from '@sandbridge/core/config/formats/config-document.ts'
import type { ServerEntry } from '@sandbridge/core/config/entries/client-fields.ts'
import type { Reader } from '@sandbridge/core/config/readers/reader.ts'
import { entriesOf, inHome, inProject, inXdgConfig } from '@sandbridge/core/config/readers/reader.ts'

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
